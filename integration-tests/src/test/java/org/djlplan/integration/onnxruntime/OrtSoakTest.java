package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs many predictions of many shapes on many threads, while models are loaded and closed. */
@Tag("onnxruntime")
@Tag("stress")
class OrtSoakTest {

    private static final int PREDICTIONS = 100_000;
    private static final int SHAPES = 2_000;
    private static final int THREADS = 64;
    private static final int ROUNDS = 10;
    private static final long MOST_GROWTH_BYTES = 8 << 20;

    @TempDir Path folder;

    private static long checksum(
            ZooModel<NDList, NDList> model, Predictor<NDList, NDList> predictor, int number)
            throws Exception {
        Shape shape = new Shape(1 + number % 20, 1 + number / 20);
        long[] ids = new long[Math.toIntExact(shape.size())];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (number + 31L * i) % 1000;
        }
        try (NDManager manager = model.getNDManager().newSubManager()) {
            NDList outputs =
                    predictor.predict(
                            new NDList(
                                    manager.create(LongBuffer.wrap(ids), shape, DataType.INT64)));
            CRC32 checksum = new CRC32();
            for (NDArray output : outputs) {
                checksum.update(output.toByteBuffer());
            }
            outputs.close();
            return checksum.getValue();
        }
    }

    private static long[] checksums(ZooModel<NDList, NDList> model) throws Exception {
        long[] all = new long[SHAPES];
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < SHAPES; i++) {
                all[i] = checksum(model, predictor, i);
            }
        }
        return all;
    }

    @Test
    void predict_manyShapesWhileModelsComeAndGo_isRightAndFlat() throws Exception {
        Path file = OnnxSketch.encoder(1, 8).write(folder.resolve("encoder.onnx"));
        long[] expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = checksums(stock);
        }
        AtomicBoolean ends = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        ExecutorService loader = Executors.newSingleThreadExecutor();
        long[] resident = new long[ROUNDS];
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            Future<Integer> loads = loader.submit(() -> loadAndClose(file, ends));
            for (int round = 0; round < ROUNDS; round++) {
                long[] actual = new long[SHAPES];
                List<Future<?>> results = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    int thread = i;
                    results.add(threads.submit(() -> predict(model, thread, expected, actual)));
                }
                for (Future<?> result : results) {
                    result.get();
                }
                assertArrayEquals(expected, actual);
                resident[round] = ProcessSize.residentBytes();
            }
            ends.set(true);
            System.out.println(loads.get() + " loads, resident " + Arrays.toString(resident));
        } finally {
            threads.shutdownNow();
            loader.shutdownNow();
        }
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
        assertTrue(resident[ROUNDS - 1] - resident[ROUNDS / 2] < MOST_GROWTH_BYTES);
    }

    private static Void predict(
            ZooModel<NDList, NDList> model, int thread, long[] expected, long[] actual)
            throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = thread; i < PREDICTIONS / ROUNDS; i += THREADS) {
                int number = (int) (i * 7L % SHAPES);
                actual[number] = checksum(model, predictor, number);
                assertEquals(expected[number], actual[number]);
            }
        }
        return null;
    }

    private static int loadAndClose(Path file, AtomicBoolean ends) throws Exception {
        int loads = 0;
        while (!ends.get()) {
            try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                    Predictor<NDList, NDList> predictor = model.newPredictor()) {
                long unused = checksum(model, predictor, loads++ % SHAPES);
            }
        }
        return loads;
    }
}
