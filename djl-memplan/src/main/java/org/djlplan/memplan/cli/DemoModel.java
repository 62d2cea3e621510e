package org.djlplan.memplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.source.tflite.TfLiteWriter;

/** The model of the demonstration: MobileNet v2 with random weights, made on the spot. */
final class DemoModel {

    static final String NAME = "mobilenet_v2.tflite";

    private static final long SEED = 1;

    private DemoModel() {}

    /** Writes the model into a file. */
    static void write(Path file) throws IOException {
        TfLiteWriter.write(MobileNetV2.build(SEED), file);
    }
}
