package org.djlplan.integration.camel;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;

/** Tests Camel routes with a TensorFlow Lite model. */
class CamelRouteTest extends RouteTests {

    CamelRouteTest() {
        super("TFLite", Map.of(), Map.of("delegation.enabled", "false"));
    }

    @Override
    void write(Path folder) throws IOException {
        TfLiteWriter.write(MobileNetV2.build(1), folder.resolve("classifier.tflite"));
    }
}
