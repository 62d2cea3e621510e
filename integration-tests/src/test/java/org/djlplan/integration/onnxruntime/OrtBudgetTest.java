package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests budgets of ONNX models: predictions keep them, or fail and name the smallest possible
 * budget.
 */
@Tag("onnxruntime")
class OrtBudgetTest {

    private static final String WARMUP = "1,3,256,256";
    private static final int SIDE = 256;

    @TempDir Path folder;

    private static ZooModel<NDList, NDList> load(Path file, String budget) throws Exception {
        return OrtModels.planned(file, Map.of("memplan.budget", budget, "memplan.warmup", WARMUP));
    }

    private static long refusedLeastBytes(Path file, String budget, String warmup) {
        ModelNotFoundException e =
                assertThrows(
                        ModelNotFoundException.class,
                        () ->
                                OrtModels.planned(
                                                file,
                                                Map.of(
                                                        "memplan.budget",
                                                        budget,
                                                        "memplan.warmup",
                                                        warmup))
                                        .close());
        return least(e);
    }

    private static long least(Throwable e) {
        return Throwables.getCausalChain(e).stream()
                .filter(BudgetTooSmallException.class::isInstance)
                .map(BudgetTooSmallException.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError(e))
                .leastBytes();
    }

    private static List<ByteBuffer> predict(ZooModel<NDList, NDList> model, int side)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            return OrtModels.bytes(
                    predictor.predict(
                            new NDList(
                                    OrtModels.floats(
                                            manager,
                                            new Random(side),
                                            new Shape(1, 3, side, side)))));
        }
    }

    @Test
    void predict_budgetWithoutWorkers_isStocksAnswer() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file);
                ZooModel<NDList, NDList> planned =
                        OrtModels.planned(
                                file, Map.of("memplan.budget", "200MB", "memplan.workers", 0))) {
            assertEquals(predict(stock, SIDE), predict(planned, SIDE));
        }
    }

    @Test
    void load_budgetTooSmall_isRefusedWithTheSmallest() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        long least = refusedLeastBytes(file, "1MB", WARMUP);
        // The outputs of two layers, of 16 channels each.
        assertTrue(least > 2L * 16 * SIDE * SIDE * 4, "" + least);
        assertTrue(least < 5L * 16 * SIDE * SIDE * 4, "" + least);
        List<ByteBuffer> expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = predict(stock, SIDE);
        }
        try (ZooModel<NDList, NDList> model = load(file, "" + least)) {
            for (int i = 0; i < 3; i++) {
                assertEquals(expected, predict(model, SIDE));
            }
            BudgetReport budget =
                    PlanHandle.of(model).orElseThrow().report().budget().orElseThrow();
            assertEquals(least, budget.budgetBytes());
            assertTrue(budget.attainable(), budget.toString());
            assertTrue(budget.arenaBytes() + budget.weightsBytes() <= least, budget.toString());
        }
        assertEquals(least, refusedLeastBytes(file, "" + (least - 64), WARMUP));
    }

    @Test
    void load_fixedShapes_areTriedWithoutAWarmUp() throws Exception {
        OnnxSketch sketch = new OnnxSketch().input("x", OnnxSketch.Type.FLOAT, 512, 1024);
        Path file =
                sketch.weights("w", 1024, 1024)
                        .node("MatMul", "x w", "a")
                        .add()
                        .node("Sigmoid", "a", "b")
                        .add()
                        .node("MatMul", "b w", "y")
                        .add()
                        .output("y", OnnxSketch.Type.FLOAT, 512, 1024)
                        .write(folder.resolve("fixed.onnx"));
        long least = refusedLeastBytes(file, "5MB", "false");
        assertTrue(least > (4L << 20) + (2L << 20), "" + least);
        OrtModels.planned(file, Map.of("memplan.budget", "" + least)).close();
        // Less than the weights.
        assertTrue(refusedLeastBytes(file, "1MB", "false") > 4 << 20);
    }

    @Test
    void predict_largerThanTheBudget_failsAndLeavesTheModelUsable() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        List<ByteBuffer> expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = predict(stock, SIDE);
        }
        try (ZooModel<NDList, NDList> model = load(file, "20MB")) {
            for (int i = 0; i < 3; i++) {
                TranslateException e =
                        assertThrows(TranslateException.class, () -> predict(model, 1024));
                assertTrue(least(e) > 20_000_000, e.toString());
                assertEquals(expected, predict(model, SIDE));
            }
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            plan.setBudget("400MB");
            assertEquals(1, predict(model, 1024).size());
            plan.setBudget("20MB");
            assertThrows(TranslateException.class, () -> predict(model, 1024));
        }
    }

    @Test
    void predict_manyThreads_runOneAtATime() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        long least = refusedLeastBytes(file, "1MB", WARMUP);
        ExecutorService threads = Executors.newFixedThreadPool(16);
        try (ZooModel<NDList, NDList> model = load(file, "" + least)) {
            List<ByteBuffer> expected = predict(model, SIDE);
            List<Future<List<ByteBuffer>>> results = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                results.add(threads.submit(() -> predict(model, SIDE)));
            }
            for (Future<List<ByteBuffer>> result : results) {
                assertEquals(expected, result.get());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void load_bestEffort_runsWithoutALimit() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        try (ZooModel<NDList, NDList> model = load(file, "1MB:best-effort")) {
            assertEquals(1, predict(model, SIDE).size());
            assertTrue(PlanHandle.of(model).orElseThrow().report().planned());
        }
    }

    private static Criteria<NDList, NDList> criteria(Path file) {
        return OrtModels.criteria(file)
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new NoopTranslator())
                                .with("memplan.warmup", WARMUP))
                .build();
    }

    private static long budgetBytes(ZooModel<NDList, NDList> model) {
        return PlanHandle.of(model).orElseThrow().report().budget().orElseThrow().budgetBytes();
    }

    @Test
    void sharedBudget_twoModels_shareItAndPredictStocksBytes() throws Exception {
        Path detector = OrtModels.Kind.DETECTOR.write(folder);
        Path classifier = OrtModels.Kind.CLASSIFIER.write(folder);
        List<List<ByteBuffer>> expected = new ArrayList<>();
        for (Path file : List.of(detector, classifier)) {
            try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
                expected.add(predict(stock, SIDE));
            }
        }
        long least =
                refusedLeastBytes(detector, "100KB", WARMUP)
                        + refusedLeastBytes(classifier, "100KB", WARMUP);
        SharedBudget shared = SharedBudget.of(least * 11 / 10);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(detector))) {
            assertEquals(shared.bytes(), budgetBytes(first));
            try (ZooModel<NDList, NDList> second = shared.load(criteria(classifier))) {
                assertTrue(budgetBytes(first) + budgetBytes(second) <= shared.bytes());
                for (int i = 0; i < 3; i++) {
                    assertEquals(expected.get(0), predict(first, SIDE));
                    assertEquals(expected.get(1), predict(second, SIDE));
                }
                TranslateException e =
                        assertThrows(TranslateException.class, () -> predict(first, 2 * SIDE));
                assertTrue(least(e) > budgetBytes(first), e.toString());
            }
            Await.until(() -> budgetBytes(first) == shared.bytes());
            assertEquals(expected.get(0), predict(first, SIDE));
        }
    }

    @Test
    void sharedBudget_noRoomForBoth_refusesTheSecondWithTheSmallest() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        long least = refusedLeastBytes(file, "100KB", WARMUP);
        SharedBudget shared = SharedBudget.of(least * 19 / 10);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(file))) {
            List<ByteBuffer> expected = predict(first, SIDE);
            ModelException e =
                    assertThrows(ModelException.class, () -> shared.load(criteria(file)).close());
            assertEquals(least, least(e));
            assertEquals(shared.bytes(), budgetBytes(first));
            assertEquals(expected, predict(first, SIDE));
        }
    }
}
