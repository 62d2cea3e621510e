package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that planned predictions of ONNX models equal stock ones, byte by byte. */
@Tag("onnxruntime")
class OrtPredictionTest {

    private static final int INPUTS = 20;
    private static final int THREADS = 64;

    @TempDir Path folder;

    private static List<List<ByteBuffer>> all(ZooModel<NDList, NDList> model, OrtModels.Kind kind)
            throws Exception {
        List<List<ByteBuffer>> outputs = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < INPUTS; i++) {
                outputs.add(OrtModels.predict(model, predictor, kind, i));
            }
        }
        return outputs;
    }

    @ParameterizedTest
    @EnumSource
    void predict_manyShapes_givesTheBytesOfStock(OrtModels.Kind kind) throws Exception {
        Path file = kind.write(folder);
        List<List<ByteBuffer>> expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = all(stock, kind);
        }
        for (Object workers : List.of("auto", 0)) {
            try (ZooModel<NDList, NDList> planned =
                    OrtModels.planned(file, Map.of("memplan.workers", workers))) {
                assertEquals(expected, all(planned, kind));
                assertEquals(expected, all(planned, kind));
                PlanReport report = PlanHandle.of(planned).orElseThrow().report();
                assertTrue(report.planned(), report.toString());
                assertEquals(2 * INPUTS, report.predictions().total());
                assertEquals(2 * INPUTS, report.predictions().online());
                assertEquals(0, report.predictions().unplanned());
                assertEquals(0, report.predictions().unplannedAllocations());
                assertTrue(report.plan().arenaBytes() > 0, report.toString());
                assertTrue(
                        report.predictions().escaped() < 2L * INPUTS * expected.get(0).size(),
                        report.toString());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void predict_manyThreads_givesTheBytesOfStock(OrtModels.Kind kind) throws Exception {
        Path file = kind.write(folder);
        List<List<ByteBuffer>> expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = all(stock, kind);
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (ZooModel<NDList, NDList> planned = OrtModels.planned(file)) {
            List<Future<List<List<ByteBuffer>>>> results = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                results.add(threads.submit(() -> all(planned, kind)));
            }
            for (Future<List<List<ByteBuffer>>> result : results) {
                assertEquals(expected, result.get());
            }
            PlanReport report = PlanHandle.of(planned).orElseThrow().report();
            assertEquals(THREADS * INPUTS, report.predictions().online());
        } finally {
            threads.shutdownNow();
        }
    }
}
