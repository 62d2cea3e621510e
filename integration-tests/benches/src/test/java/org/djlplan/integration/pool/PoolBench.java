package org.djlplan.integration.pool;

import java.nio.file.Path;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures a pool of threads that predicts with PyTorch models; the engine uses one thread. Asserts
 * nothing, because machines are noisy.
 */
@Tag("bench")
public class PoolBench {

    @TempDir private Path folder;

    private void print(String title, Path model, String translator, int predictions)
            throws Exception {
        new PoolTable(folder).print(title, model, translator, predictions);
    }

    private static Path model(String name) {
        return RealModels.TORCHSCRIPT.file(name);
    }

    @Test
    void printTrivial() throws Exception {
        print("resnet50.pt, values from a Java buffer", model("resnet50"), "trivial", 300);
    }

    @Test
    void printImage() throws Exception {
        print("mobilenet_v2.pt, images of 1920 x 1080", model("mobilenet_v2"), "image", 300);
    }

    @Test
    void printBusy() throws Exception {
        Process neighbour =
                new ProcessBuilder("taskset", "-c", "0", "sh", "-c", "while :; do :; done").start();
        try {
            print(
                    "mobilenet_v2.pt, values from a Java buffer, a busy process on core 0",
                    model("mobilenet_v2"),
                    "trivial",
                    600);
        } finally {
            neighbour.destroyForcibly();
        }
    }

    @Test
    void printImperative() throws Exception {
        // Without a folder of the model, the plan is stored in DJL's cache.
        print("ResNet-50 of DJL, values from a Java buffer", Path.of("resnet50"), "trivial", 300);
    }
}
