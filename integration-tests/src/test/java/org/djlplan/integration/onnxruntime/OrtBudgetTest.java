package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
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
        return BudgetRefusal.in(e).leastBytes();
    }

    private static List<ByteBuffer> predict(ZooModel<NDList, NDList> model, int side)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            return OrtModels.bytes(predictor.predict(OrtModels.image(manager, side)));
        }
    }

    @Test
    void predict_budgetWithoutWorkers_isStocksAnswer() throws Exception {
        Path file = OrtModels.detector(folder);
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file);
                ZooModel<NDList, NDList> planned =
                        OrtModels.planned(
                                file, Map.of("memplan.budget", "200MB", "memplan.workers", 0))) {
            assertEquals(predict(stock, SIDE), predict(planned, SIDE));
        }
    }

    @Test
    void load_budgetTooSmall_isRefusedWithTheSmallest() throws Exception {
        Path file = OrtModels.detector(folder);
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
        Path file = OrtModels.detector(folder);
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
        Path file = OrtModels.detector(folder);
        long least = refusedLeastBytes(file, "1MB", WARMUP);
        try (ZooModel<NDList, NDList> model = load(file, "" + least)) {
            List<ByteBuffer> expected = predict(model, SIDE);
            Threads.all(16, thread -> predict(model, SIDE))
                    .forEach(outputs -> assertEquals(expected, outputs));
        }
    }

    @Test
    void load_bestEffort_runsWithoutALimit() throws Exception {
        Path file = OrtModels.detector(folder);
        try (ZooModel<NDList, NDList> model = load(file, "1KB:best-effort")) {
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            assertEquals(1, predict(model, SIDE).size());
            plan.setBudget("2KB");
            assertEquals(1, predict(model, SIDE).size());
            assertTrue(plan.report().planned());
            assertFalse(plan.report().budget().orElseThrow().attainable());
        }
    }

    @Test
    void predict_refused_namesABudgetThatSuffices() throws Exception {
        Path file = OrtModels.detector(folder);
        try (ZooModel<NDList, NDList> model =
                OrtModels.planned(file, Map.of("memplan.budget", "10MB"))) {
            predict(model, SIDE / 2);
            TranslateException e =
                    assertThrows(TranslateException.class, () -> predict(model, 2 * SIDE));
            PlanHandle.of(model).orElseThrow().setBudget(least(e));
            assertEquals(1, predict(model, 2 * SIDE).size());
        }
    }

    @Test
    void predict_firstOutputKept_fitsIntoTheReportedBudget() throws Exception {
        Path file = OnnxSketch.wide(5_000).write(folder.resolve("wide.onnx"));
        try (ZooModel<NDList, NDList> model =
                        OrtModels.planned(
                                file, Map.of("memplan.budget", "200MB", "memplan.workers", 0));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList input = new NDList(manager.ones(new Shape(1, 1)));
            List<NDList> kept = new ArrayList<>();
            kept.add(predictor.predict(input));
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            plan.setBudget(plan.report().budget().orElseThrow().leastBudgetBytes());
            for (int i = 0; i < 5; i++) {
                kept.add(predictor.predict(input));
            }
            assertEquals(6, kept.size());
        }
    }

    @Test
    void load_shareOfStock_includesThePredictions() throws Exception {
        Path file = OnnxSketch.wide(5_000).write(folder.resolve("wide.onnx"));
        try (ZooModel<NDList, NDList> model =
                        OrtModels.planned(file, Map.of("memplan.budget", "100%"));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(new NDList(manager.ones(new Shape(1, 1)))).close();
            long least =
                    PlanHandle.of(model)
                            .orElseThrow()
                            .report()
                            .budget()
                            .orElseThrow()
                            .leastBudgetBytes();
            assertTrue(least >= 40_000_000, "" + least);
            assertEquals(least / 5 * 6, budgetBytes(model));
        }
        assertTrue(refusedLeastBytes(file, "50%", "false") >= 40_000_000);
    }

    @Test
    void load_externalWeights_countInTheBudget() throws Exception {
        Path file =
                OnnxSketch.table(100_000).withExternalData().write(folder.resolve("table.onnx"));
        long least = refusedLeastBytes(file, "5MB", "false");
        assertTrue(least >= 25_600_000 && least < 27_000_000, "" + least);
        try (ZooModel<NDList, NDList> model =
                OrtModels.planned(file, Map.of("memplan.budget", "30MB"))) {
            BudgetReport budget =
                    PlanHandle.of(model).orElseThrow().report().budget().orElseThrow();
            assertTrue(budget.weightsBytes() >= 25_600_000, budget.toString());
        }
    }

    /** Predictions would allocate on threads of the engine, where nothing limits them. */
    @Test
    void load_parallelExecution_isRefusedUnlessBestEffort() throws Exception {
        Path file = OrtModels.detector(folder);
        ModelNotFoundException e =
                assertThrows(ModelNotFoundException.class, () -> parallel(file, "20MB").close());
        assertTrue(Throwables.getRootCause(e).getMessage().contains("executionMode=PARALLEL"));
        parallel(file, "20MB:best-effort").close();
        parallel(file, "none").close();
    }

    private static ZooModel<NDList, NDList> parallel(Path file, String budget) throws Exception {
        return OrtModels.criteria(file)
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new NoopTranslator())
                                .with("memplan.budget", budget))
                .optOption("executionMode", "PARALLEL")
                .optOption("interOpNumThreads", "2")
                .optOption("intraOpNumThreads", "1")
                .build()
                .loadModel();
    }

    @Test
    void setBudget_whilePredictionsAreRefused_messagesAreConsistent() throws Exception {
        Path file = OrtModels.detector(folder);
        Pattern text =
                Pattern.compile("a budget of ([0-9.]+) MB .* (?:about|at least) ([0-9.]+) MB");
        AtomicBoolean ends = new AtomicBoolean();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (ZooModel<NDList, NDList> model = load(file, "20MB")) {
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            Future<?> changes =
                    thread.submit(
                            () -> {
                                while (!ends.get()) {
                                    plan.setBudget("400MB");
                                    plan.setBudget("20MB");
                                }
                                return null;
                            });
            int refused = 0;
            for (int i = 0; i < 400 && refused < 20; i++) {
                try {
                    predict(model, 512);
                } catch (TranslateException e) {
                    refused++;
                    Matcher numbers = text.matcher(e.getMessage());
                    assertTrue(numbers.find(), e.getMessage());
                    assertTrue(
                            Double.parseDouble(numbers.group(1))
                                    < Double.parseDouble(numbers.group(2)),
                            e.getMessage());
                }
            }
            ends.set(true);
            changes.get();
            assertEquals(20, refused);
        } finally {
            thread.shutdownNow();
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
        Path detector = OrtModels.detector(folder);
        Path classifier = OrtModels.classifier(folder);
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
        Path file = OrtModels.detector(folder);
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
