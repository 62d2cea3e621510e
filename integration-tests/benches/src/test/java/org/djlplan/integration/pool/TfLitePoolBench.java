package org.djlplan.integration.pool;

import java.nio.file.Path;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measures a pool of threads that predicts with a TensorFlow Lite model on CPU kernels. */
@Tag("bench")
class TfLitePoolBench {

    @TempDir private Path folder;

    @Test
    void printTfLite() throws Exception {
        Path file = RealModels.TFLITE.file("hand_landmark_full");
        new PoolTable(folder)
                .print(
                        "hand_landmark_full.tflite, CPU kernels; stock: one prediction at a time, as more"
                                + " end the JVM",
                        file,
                        "trivial",
                        300);
    }
}
