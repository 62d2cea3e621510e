package org.djlplan.integration.current;

import java.nio.file.Path;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;

/**
 * Compares outputs of planned models with the engine's own, for the TensorFlow Lite library on the
 * class path.
 */
final class ReleaseProgram {

    private ReleaseProgram() {}

    /** Arguments: files of models. Prints the library's version and how many runs were equal. */
    public static void main(String[] files) throws Exception {
        StockInterpreter.loadEngine();
        int same = 0;
        for (String file : files) {
            for (int threads = 1; threads <= 2; threads++) {
                TfLiteReleasesTest.compare(Path.of(file), threads);
                same++;
            }
        }
        System.out.println("TFLite " + EngineLibrary.loaded().version() + ": " + same);
    }
}
