package org.djlplan.integration.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pools of 1 to 64 threads that predict with one model; the engine uses one thread. "gate" allows
 * as many predictions at once as there are cores. {@code -Ddjlplan.bench.requests=N} sends N
 * requests.
 */
@Tag("bench")
@OnEveryDjl
class PoolBench {

    private static final String REQUESTS = System.getProperty("djlplan.bench.requests", "300");

    @TempDir private Path folder;

    private void print(String name, String file, String inputs) throws Exception {
        try (Turns turns = new Turns(folder, 3)) {
            for (int callers : new int[] {1, 2, 8, 64}) {
                String[] settings = {
                    "callers=" + callers, "requests=" + REQUESTS, "file=" + file, "inputs=" + inputs
                };
                int cores = Runtime.getRuntime().availableProcessors();
                List<Way> ways =
                        List.of(
                                Cases.stock(settings),
                                Cases.planned("planned", Map.of(), settings),
                                Cases.planned(
                                        "gate", Map.of("memplan.maxPredictions", cores), settings));
                turns.compare(name + ", threads: " + callers, ways);
            }
        }
    }

    private String copy(Path model) throws Exception {
        return Files.isRegularFile(model) ? new Turns(folder, 1).copy(model).toString() : "";
    }

    private String torchScript(String name) throws Exception {
        return copy(RealModels.TORCHSCRIPT.file(name));
    }

    @Test
    void printTrivial() throws Exception {
        print("resnet50", torchScript("resnet50"), "image/one");
    }

    @Test
    void printImage() throws Exception {
        print("mobilenet_v2, images of 1920 x 1080", torchScript("mobilenet_v2"), "photo");
    }

    @Test
    void printBusy() throws Exception {
        Process neighbour = Cases.busyNeighbour();
        try {
            print("mobilenet_v2, a busy process", torchScript("mobilenet_v2"), "image/one");
        } finally {
            neighbour.destroyForcibly();
        }
    }

    @Test
    void printImperative() throws Exception {
        print("ResNet-50 of DJL", "zoo:resnet50", "image/one");
    }

    /** CPU kernels; stock predicts one at a time, because more would end the JVM. */
    @Test
    void printTfLite() throws Exception {
        String file = copy(RealModels.TFLITE.file("hand_landmark_full"));
        print("hand_landmark_full", file, "f1x224x224x3");
    }
}
