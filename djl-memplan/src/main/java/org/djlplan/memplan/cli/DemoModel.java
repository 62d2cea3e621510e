package org.djlplan.memplan.cli;

import java.io.IOException;
import java.nio.file.Path;

/** The model of the demonstration: MobileNet v2 with random weights, made on the spot. */
final class DemoModel {

    static final String NAME = "mobilenet_v2.tflite";

    private static final String WRITER = "org.djlplan.memplan.cli.demo.MobileNetV2";

    private DemoModel() {}

    /** Writes the model into a file. */
    static void write(Path file) throws IOException {
        try {
            Object unused = Class.forName(WRITER).getMethod("write", Path.class).invoke(null, file);
        } catch (ClassNotFoundException e) {
            throw new Failure("the demonstration's model is not available yet");
        } catch (ReflectiveOperationException e) {
            throw new IOException("cannot write the demonstration's model", e);
        }
    }
}
