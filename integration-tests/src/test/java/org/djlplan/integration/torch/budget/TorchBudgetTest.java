package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV1;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import com.sun.jna.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.djl.ModelHandle;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests small models in a budget: TorchScript files, and a generated block of large layers. */
@OnEveryDjlWhenLong
class TorchBudgetTest {

    private static final ImmutableSet<String> FEW =
            ImmutableSet.of("cnn", "embedding", "lstm", "in_place", "fork", "tuple_outputs");

    private static final int LAYERS = 8;
    private static final int UNITS = 1024;
    private static final long LAYER_BYTES = 4L * UNITS * UNITS;
    private static final int SEEDS = 4;

    /** Room for half of the weights, and for the engine's other memory. */
    private static final String BUDGET = "60MB";

    /** The stock engine's outputs of the block of large layers, which is saved once. */
    @TempDir private static Path saved;

    private static ImmutableList<List<Output>> stockAnswers = ImmutableList.of();

    @TempDir private Path folder;

    @BeforeAll
    static void saveLayers() throws Exception {
        Torch.threads(1);
        BlockModels.save(layers(), saved);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(layers(), saved)) {
            stockAnswers = ImmutableList.copyOf(answers(stock));
        }
    }

    @BeforeEach
    void useOneThread() {
        Torch.threads(1);
    }

    /** Returns models that use weights in different ways. */
    static List<TorchScriptModel> models() {
        return TorchScriptModels.all().stream()
                .filter(model -> FEW.contains(model.name()))
                .toList();
    }

    static List<TorchScriptModel> otherModels() {
        return TorchScriptModels.all().stream()
                .filter(model -> !FEW.contains(model.name()))
                .toList();
    }

    private static SequentialBlock layers() {
        SequentialBlock block = new SequentialBlock();
        for (int i = 0; i < LAYERS; i++) {
            block.add(Linear.builder().setUnits(UNITS).build()).add(Activation.reluBlock());
        }
        return block;
    }

    private static List<List<Output>> answers(ZooModel<NDList, NDList> model) throws Exception {
        return answers(model, () -> {});
    }

    private static List<List<Output>> answers(ZooModel<NDList, NDList> model, Runnable afterEach)
            throws Exception {
        List<List<Output>> answers = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < SEEDS; seed++) {
                answers.add(Torch.predict(predictor, BlockModels.INPUTS, seed));
                afterEach.run();
            }
        }
        return answers;
    }

    /** Copies the block of large layers into the test's folder, and returns the stock outputs. */
    private List<List<Output>> copyLayers() throws IOException {
        try (Stream<Path> files = Files.list(saved)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        return stockAnswers;
    }

    private static BudgetReport report(ZooModel<NDList, NDList> model) {
        return Torch.report(model).budget().orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("otherModels")
    @Tag("long")
    void predict_otherTorchScript_isSameAnswer(TorchScriptModel model) throws Exception {
        predict_torchScript_isSameAnswer(model);
    }

    @ParameterizedTest
    @MethodSource("models")
    void predict_torchScript_isSameAnswer(TorchScriptModel model) throws Exception {
        Path file = Torch.copy(model, folder);
        for (ModelInputs inputs : model.inputSets()) {
            List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
            try (ZooModel<NDList, NDList> planned =
                            Torch.load(file, Map.of("memplan.budget", BUDGET));
                    Predictor<NDList, NDList> predictor = planned.newPredictor()) {
                for (int seed = 0; seed < SEEDS; seed++) {
                    assertEquals(
                            expected.get(seed),
                            Torch.predict(predictor, inputs, seed),
                            model + " " + seed);
                }
            }
        }
        Torch.assertNoArenas();
    }

    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_largeLayers_isSameAnswerFromLoadedPieces(String io) throws Exception {
        List<List<Output>> expected = copyLayers();
        // Loads twice: the first load's results are stored.
        for (int i = 0; i < 2; i++) {
            try (ZooModel<NDList, NDList> model =
                    BlockModels.load(layers(), folder, Map.of("memplan.budget", "40MB:" + io))) {
                assertEquals(expected, answers(model));
                assertEquals(expected, answers(model));
                BudgetReport report = report(model);
                assertTrue(report.weightsBytes() >= (LAYERS - 1) * LAYER_BYTES, report.toString());
                assertTrue(report.bytesLoadedPerPrediction() > LAYER_BYTES, report.toString());
                assertEquals(0, report.slicedOperators());
            }
        }
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            assertTrue(files.anyMatch(file -> file.toString().endsWith(".weights.json")));
        }
        Torch.assertNoArenas();
    }

    @Test
    void setBudget_betweenPredictions_isSameAnswer() throws Exception {
        List<List<Output>> expected = copyLayers();
        try (ZooModel<NDList, NDList> model =
                BlockModels.load(layers(), folder, Map.of("memplan.budget", BUDGET))) {
            assertEquals(expected, answers(model));
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            long least = report(model).leastBudgetBytes();
            for (long budget : new long[] {least, 2 * least, least + LAYER_BYTES, 10 * least}) {
                plan.setBudget(budget);
                assertEquals(expected, answers(model));
                assertEquals(budget, report(model).budgetBytes());
            }
            plan.setBudget("none");
            assertEquals(expected, answers(model));
            assertEquals(0, report(model).bytesLoadedPerPrediction());
            BudgetTooSmallException tooSmall =
                    assertThrows(BudgetTooSmallException.class, () -> plan.setBudget(least / 2));
            assertTrue(tooSmall.leastBytes() > least / 2);
            assertEquals(expected, answers(model));
        }
    }

    /** The load is rejected, because the engine's own memory exceeds the budget. */
    @Test
    void load_budgetBelowTheEngines_failsAndNamesTheLeast() throws Exception {
        copyLayers();
        ModelException refused = assertThrows(ModelException.class, () -> load("20MB"));
        assertTrue(BudgetRefusal.in(refused).leastBytes() > 20_000_000);
        assertEquals(0, mappings());
    }

    @Test
    void predict_budgetTooSmall_failsAndNamesTheLeastAndTheLayerUntilItIsLarger() throws Exception {
        List<List<Output>> expected = copyLayers();
        try (ZooModel<NDList, NDList> model = load("33MB")) {
            for (int i = 0; i < 2; i++) {
                TranslateException refused =
                        assertThrows(TranslateException.class, () -> answers(model));
                BudgetTooSmallException problem = BudgetRefusal.in(refused);
                assertTrue(problem.leastBytes() > 33_000_000, problem.getMessage());
                assertTrue(problem.getMessage().contains("Linear_weight"), problem.getMessage());
            }
            PlanHandle.of(model).orElseThrow().setBudget(BUDGET);
            assertEquals(expected, answers(model));
        }
    }

    @Test
    void predict_budgetTooSmallBestEffort_warnsOnceAndRunsInAsLittleAsItCan() throws Exception {
        List<List<Output>> expected = copyLayers();
        try (LogCapture log = new LogCapture();
                ZooModel<NDList, NDList> model = load("20MB:best-effort")) {
            assertEquals(expected, answers(model));
            assertEquals(expected, answers(model));
            List<String> warnings = log.ours("WARN");
            assertEquals(1, warnings.size(), warnings.toString());
            assertTrue(warnings.get(0).contains("is too small"), warnings.toString());
            BudgetReport report = report(model);
            assertFalse(report.attainable());
            assertTrue(report.arenaBytes() < 3 * LAYER_BYTES, report.toString());
        }
    }

    private ZooModel<NDList, NDList> load(String budget) throws Exception {
        return BlockModels.load(layers(), folder, Map.of("memplan.budget", budget));
    }

    /** Another model that is loaded at the same time would allocate like this. */
    @Test
    void predict_othersAllocateMeanwhile_isNotRefused() throws Exception {
        List<List<Output>> expected = copyLayers();
        try (ZooModel<NDList, NDList> model = load("45MB");
                Memory others = new Memory(100 << 20)) {
            others.clear();
            assertEquals(expected, answers(model));
            BudgetReport report = report(model);
            assertTrue(report.attainable(), report.toString());
            PlanHandle.of(model).orElseThrow().setBudget("47MB");
            assertEquals(expected, answers(model));
        }
    }

    /** With warm-up, a model's needs are known when it is loaded. */
    @Test
    void load_budgetTooSmallAndWarmUp_fails() throws Exception {
        copyLayers();
        Map<String, String> options =
                Map.of(
                        "memplan.budget", "33MB",
                        "memplan.warmup", "4,6");
        ModelException refused =
                assertThrows(
                        ModelException.class, () -> BlockModels.load(layers(), folder, options));
        assertTrue(BudgetRefusal.in(refused).leastBytes() > 33_000_000);
    }

    /** At no moment do more weights lie in memory than fit into the widest window. */
    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_always_hasNoMoreWeightsInMemoryThanPlanned(String io) throws Exception {
        List<List<Output>> expected = copyLayers();
        try (ZooModel<NDList, NDList> model =
                        BlockModels.load(layers(), folder, Map.of("memplan.budget", "45MB:" + io));
                ResidentWeights weights = ResidentWeights.watch()) {
            List<BudgetReport> reports = new ArrayList<>();
            for (int round = 0; round < 2; round++) {
                assertEquals(expected, answers(model, () -> reports.add(report(model))));
            }
            assertTrue(report(model).attainable(), reports.toString());
            assertTrue(weights.mostBytes() > 0);
            long most = reports.stream().mapToLong(BudgetReport::arenaBytes).max().orElseThrow();
            assertTrue(most < 29_000_000, reports.toString());
            assertTrue(weights.mostBytes() <= most, weights.mostBytes() + " " + reports);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "2"})
    void predict_severalPredictorsOnWorkers_shareOneBudget(String workers) throws Exception {
        List<List<Output>> expected = copyLayers();
        Torch.threads(2);
        long before = mappings();
        try (ZooModel<NDList, NDList> model =
                criteria(
                                new PlannedTranslatorFactory()
                                        .with("memplan.budget", "47MB")
                                        .with("memplan.workers", workers))
                        .loadModel()) {
            assertEquals(before + 1, mappings());
            Threads.all(3, thread -> List.of(answers(model), answers(model)))
                    .forEach(both -> assertEquals(List.of(expected, expected), both));
            assertTrue(report(model).attainable(), report(model).toString());
        }
        Torch.assertNoArenas();
    }

    private Criteria<NDList, NDList> criteria(PlannedTranslatorFactory factory) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("PyTorch")
                .optModelPath(folder)
                .optModelName(BlockModels.NAME)
                .optBlock(layers())
                .optTranslatorFactory(factory)
                .build();
    }

    @Test
    @Tag("long")
    void load_secondModelInASharedBudget_takesRoomAndBothAnswerAsStock() throws Exception {
        List<List<Output>> expected = copyLayers();
        PlannedTranslatorFactory factory = PlannedTranslatorFactory.wrap(new NoopTranslator());
        SharedBudget shared = SharedBudget.of("80MB");
        try (ZooModel<NDList, NDList> first = shared.load(criteria(factory))) {
            assertEquals(shared.bytes(), report(first).budgetBytes());
            for (int round = 0; round < 4; round++) {
                assertEquals(expected, answers(first));
            }
            long held = ResidentWeights.residentBytes();
            assertTrue(held > LAYER_BYTES, "of " + held);
            try (ZooModel<NDList, NDList> second = shared.load(criteria(factory))) {
                long left = ResidentWeights.residentBytes();
                assertTrue(left < LAYER_BYTES, "nobody predicts, and yet there are " + left);
                assertTrue(
                        report(first).budgetBytes() + report(second).budgetBytes()
                                <= shared.bytes());
                for (int round = 0; round < 2; round++) {
                    assertEquals(expected, answers(first));
                    assertEquals(expected, answers(second));
                }
            }
            Await.until(() -> report(first).budgetBytes() == shared.bytes());
            assertEquals(expected, answers(first));
        }
        assertEquals(0, mappings());
        Torch.assertNoArenas();
    }

    /** Each kind of inputs is recorded once, however large its batches are. */
    @Test
    void predict_otherBatches_areHeldInTheBudgetToo() throws Exception {
        copyLayers();
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(layers(), folder);
                ZooModel<NDList, NDList> model = load("47MB");
                ResidentWeights weights = ResidentWeights.watch()) {
            long widest = 0;
            for (int i = 0; i < 3; i++) {
                for (long batch : new long[] {1, 7, 64}) {
                    ModelInputs inputs = BlockModels.INPUTS.ofBatch(batch);
                    assertEquals(Torch.predict(stock, inputs, i), Torch.predict(model, inputs, i));
                    BudgetReport report = report(model);
                    assertTrue(report.attainable(), report.toString());
                    assertTrue(i < 2 || report.bytesLoadedPerPrediction() > 0, report.toString());
                    widest = Math.max(widest, report.arenaBytes());
                }
            }
            assertTrue(widest < 29_000_000, () -> report(model).toString());
            assertTrue(weights.mostBytes() <= widest, weights.mostBytes() + " of " + widest);
        }
    }

    /** DJL's own MobileNet: an imperative block of many small layers and some large ones. */
    @Test
    void predict_networkOfDjls_isSameAnswer() throws Exception {
        Shape images = new Shape(1, 3, 64, 64);
        ModelInputs inputs = ModelInputs.floats(images.getShape());
        BlockModels.save(mobileNet(), folder, images);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(mobileNet(), folder);
                ZooModel<NDList, NDList> model =
                        BlockModels.load(mobileNet(), folder, Map.of("memplan.budget", "44MB"))) {
            for (int seed = 0; seed < SEEDS; seed++) {
                assertEquals(
                        Torch.predict(stock, inputs, seed), Torch.predict(model, inputs, seed));
            }
            BudgetReport report = report(model);
            assertTrue(report.attainable(), report.toString());
            assertTrue(report.weightsBytes() > 10_000_000, report.toString());
            var weights = ModelHandle.of(model).orElseThrow().residentWeights().orElseThrow();
            long bytes = weights.pinnedBytes();
            assertEquals(report.pinnedBytes(), bytes);
            for (var change : weights.changes()) {
                bytes += change.bytes();
                assertTrue(bytes >= 0 && bytes <= report.arenaBytes(), change::toString);
            }
            assertFalse(weights.changes().isEmpty());
        }
    }

    private static Block mobileNet() {
        return MobileNetV1.builder().setOutSize(10).build();
    }

    @Test
    void close_modelBeforeItsArrays_leavesNoFile() throws Exception {
        copyLayers();
        ZooModel<NDList, NDList> model =
                BlockModels.load(layers(), folder, Map.of("memplan.budget", BUDGET));
        assertTrue(mappings() > 0);
        answers(model);
        PlanHandle plan = PlanHandle.of(model).orElseThrow();
        model.close();
        model.close();
        assertThrows(IllegalStateException.class, () -> plan.setBudget("20MB"));
        assertEquals(0, mappings());
    }

    private static long mappings() throws IOException {
        return ResidentWeights.mappings();
    }
}
