package org.djlplan.integration.tflite.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which pages of a model's file are in memory. */
@OnEveryDjlWhenLong
class PagesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir Path folder;

    @Test
    void predict_once_pagesAreGivenBackAndReadAgainWhenNeeded() throws Exception {
        Path file =
                Files.copy(TestModels.built("mobilenet_v2"), folder.resolve("model.tflite"))
                        .toRealPath();
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDArray input = model.getNDManager().ones(new Shape(1, 224, 224, 3))) {
            ByteBuffer first = predict(predictor, input);
            assertTrue(
                    residentBytes(file) > Files.size(file) / 2, "weights are read from the file");
            long begin = System.nanoTime();
            while (residentBytes(file) > 0) {
                assertTrue(System.nanoTime() - begin < PATIENCE.toNanos(), "pages stay");
                Thread.onSpinWait();
            }
            assertEquals(first, predict(predictor, input));
        }
    }

    private static ByteBuffer predict(Predictor<NDList, NDList> predictor, NDArray input)
            throws Exception {
        try (NDList output = predictor.predict(new NDList(input))) {
            return ByteBuffer.wrap(output.head().toByteArray());
        }
    }

    /** Returns how many bytes of a mapped file are in this process's memory. */
    private static long residentBytes(Path file) throws IOException {
        boolean own = false;
        long kilobytes = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.startsWith("Rss:")) {
                kilobytes += own ? Long.parseLong(line.replaceAll("\\D", "")) : 0;
            } else if (line.contains("-") && line.contains(" ")) {
                own = line.endsWith(file.toString());
            }
        }
        return kilobytes * 1024;
    }
}
