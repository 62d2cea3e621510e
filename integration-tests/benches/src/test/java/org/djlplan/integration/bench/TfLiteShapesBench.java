package org.djlplan.integration.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * TensorFlow Lite models with inputs of many shapes: the plain engine, planned, delegated, and
 * XNNPACK by hand. {@code -Ddjlplan.bench.case=pnet/zipf} runs only the cases whose names begin so,
 * {@code -Ddjlplan.bench.requests=N} sends N requests.
 */
@Tag("bench")
@Tag("djl-current")
class TfLiteShapesBench {

    @TempDir private Path folder;

    @Test
    void printImagePyramid() throws Exception {
        print("pnet", RealModels.TFLITE.file("pnet"), "pyramid", 400);
    }

    @Test
    void printSpectrogram() throws Exception {
        print("melspectrogram", RealModels.OPEN_SHAPES.file("melspectrogram"), "sound", 800);
    }

    @Test
    void printBatches() throws Exception {
        print("embedding_model", RealModels.OPEN_SHAPES.file("embedding_model"), "frames", 100);
    }

    private void print(String model, Path file, String kind, int requests) throws Exception {
        try (Turns turns = new Turns(folder, 3)) {
            for (String distribution : List.of("uniform", "zipf", "few", "two", "one")) {
                print(turns, model, file, kind + "/" + distribution, 1, requests);
            }
            print(turns, model, file, kind + "/two", 8, requests);
        }
    }

    private static void print(
            Turns turns, String model, Path file, String inputs, int callers, int requests)
            throws Exception {
        String[] settings = {
            "threads=1",
            "callers=" + callers,
            "requests=" + Integer.getInteger("djlplan.bench.requests", requests),
            "file=" + turns.copy(file),
            "inputs=" + inputs
        };
        turns.compare(
                model + inputs.replaceFirst(".*/", "/") + "/" + callers,
                List.of(
                        Cases.way("plain", "stock", settings),
                        Cases.planned("planned", Map.of("memplan.threads", 1), settings),
                        Cases.planned(
                                "delegated",
                                Map.of(
                                        "memplan.threads",
                                        1,
                                        "delegation.profile",
                                        "blocking",
                                        "delegation.enabled",
                                        "every-shape",
                                        "ready",
                                        true),
                                settings),
                        Cases.way("hand", "hand", settings)));
    }
}
