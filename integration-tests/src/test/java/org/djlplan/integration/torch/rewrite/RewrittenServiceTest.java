package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests how a stored choice begins to serve, and what happens to predictions meanwhile. */
@OnEveryDjlWhenLong
class RewrittenServiceTest implements TorchTests {

    private static final int SEEDS = 6;
    private static final long CODE_BYTES = 25 << 20;

    /** Stored results are used, and nothing is measured. */
    private static final Map<String, String> STORED = Map.of("delegation.profile", "off");

    @TempDir Path folder;

    static Stream<Recipe> recipes() {
        return Recipe.all().stream();
    }

    private Path stored(String model, String recipe) throws Exception {
        Path file = Torch.copy(TorchScriptModels.named(model), folder);
        StoredChoice.of(file, recipe);
        return file;
    }

    private static DelegationReport awaitChoice(ZooModel<NDList, NDList> model) {
        Await.until(() -> Torch.report(model).delegation().isPresent());
        return Torch.report(model).delegation().orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void load_choiceIsStored_rewritesTheModelAndGivesTheSameAnswers(Recipe recipe)
            throws Exception {
        for (String name : List.of("attention", "cnn_traced", "convolutions", "dict_outputs")) {
            TorchScriptModel model = TorchScriptModels.named(name);
            Path file = stored(name, recipe.name());
            try (ZooModel<NDList, NDList> rewritten = Torch.load(file, STORED);
                    Predictor<NDList, NDList> predictor = rewritten.newPredictor()) {
                DelegationReport report = awaitChoice(rewritten);
                assertEquals(Origin.STORED, report.origin());
                assertEquals(recipe.name(), report.delegate());
                for (ModelInputs inputs : model.inputSets()) {
                    List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
                    for (int seed = 0; seed < SEEDS; seed++) {
                        NearOutputs.assertNear(
                                expected.get(seed), Torch.predict(predictor, inputs, seed));
                    }
                }
            }
        }
    }

    @Test
    void load_delegationDisabled_givesTheStockBytes() throws Exception {
        Path file = stored("attention", "optimize_for_inference");
        ModelInputs inputs = TorchScriptModels.named("attention").inputSets().get(0);
        try (ZooModel<NDList, NDList> model =
                Torch.load(file, Map.of("delegation.enabled", "false"))) {
            for (int seed = 0; seed < SEEDS; seed++) {
                assertEquals(
                        Torch.stock(file, inputs, SEEDS).get(seed),
                        Torch.predict(model, inputs, seed));
            }
            assertTrue(Torch.report(model).delegation().isEmpty());
        }
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void predict_manyCallersWhileTheModuleIsReplaced_allAnswersAreRight(Recipe recipe)
            throws Exception {
        predictWhileReplaced(recipe.name(), 8, 500);
    }

    @Test
    void predict_moreCallersThanPlacesWhileTheModuleIsReplaced_allAnswersAreRight()
            throws Exception {
        predictWhileReplaced("optimize_for_inference", 64, 2000);
    }

    @Test
    @Tag("stress")
    void predict_soakWhileTheModuleIsReplaced_allAnswersAreRight() throws Exception {
        predictWhileReplaced("optimize_for_inference", 16, 100_000);
    }

    private void predictWhileReplaced(String recipe, int callers, int predictions)
            throws Exception {
        TorchScriptModel model = TorchScriptModels.named("cnn_traced");
        Path file = stored("cnn_traced", recipe);
        List<List<List<Output>>> expected = new ArrayList<>();
        for (ModelInputs inputs : model.inputSets()) {
            expected.add(Torch.stock(file, inputs, SEEDS));
        }
        ExecutorService pool = Executors.newFixedThreadPool(callers);
        try (ZooModel<NDList, NDList> rewritten = Torch.load(file, STORED)) {
            AtomicBoolean ended = new AtomicBoolean();
            List<Future<?>> running = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                int first = caller;
                running.add(
                        pool.submit(
                                () -> {
                                    try (Predictor<NDList, NDList> predictor =
                                            rewritten.newPredictor()) {
                                        for (int i = first; !ended.get(); i++) {
                                            int kind = i % expected.size();
                                            int seed = i % SEEDS;
                                            NearOutputs.assertNear(
                                                    expected.get(kind).get(seed),
                                                    Torch.predict(
                                                            predictor,
                                                            model.inputSets().get(kind),
                                                            seed));
                                        }
                                    }
                                    return null;
                                }));
            }
            DelegationReport report = awaitChoice(rewritten);
            long before = Torch.report(rewritten).predictions().total();
            Await.until(
                    () ->
                            Torch.report(rewritten).predictions().total() > before + predictions
                                    || running.stream().anyMatch(Future::isDone));
            ended.set(true);
            for (Future<?> each : running) {
                each.get();
            }
            assertEquals(recipe, report.delegate());
        } finally {
            pool.shutdownNow();
        }
    }

    /**
     * The application keeps most of the processor time, and the measurement ends although it does.
     */
    @Test
    @Tag("djl-current")
    @Tag("long")
    void predict_nothingIsStored_measuresInAProcessOfLowPriority() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("attention"), folder);
        ModelInputs inputs = TorchScriptModels.named("attention").inputSets().get(0);
        List<Output> expected = Torch.stock(file, inputs, 1).get(0);
        try (ZooModel<NDList, NDList> model =
                        Torch.load(file, Map.of("delegation.profile", "background:100ms"));
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            Optional<Integer> niceness = Optional.empty();
            boolean measured = false;
            while (!measured) {
                NearOutputs.assertNear(expected, Torch.predict(predictor, inputs, 0));
                niceness = niceness.or(RewrittenServiceTest::nicenessOfChild);
                measured =
                        Torch.report(model)
                                .delegation()
                                .filter(report -> report.origin() == Origin.MEASURED)
                                .isPresent();
            }
            assertEquals(Optional.of(10), niceness);
        }
    }

    /** Returns the nice value of a measuring process that this one started, once it has it. */
    private static Optional<Integer> nicenessOfChild() {
        return ProcessHandle.current()
                .children()
                .map(child -> Path.of("/proc", Long.toString(child.pid()), "stat"))
                .flatMap(RewrittenServiceTest::niceness)
                .filter(nice -> nice > 0)
                .findFirst();
    }

    /** Field 19; the second field, the command's name, ends with a parenthesis. */
    private static Stream<Integer> niceness(Path stat) {
        try {
            String text = Files.readString(stat);
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
            return Stream.of(Integer.valueOf(fields[19 - 3]));
        } catch (IOException e) {
            return Stream.empty(); // it has ended
        }
    }

    /** The first load in a process finds nothing of djl-plan bound. */
    @Test
    void load_firstInAProcess_isRewritten() throws Exception {
        Path file = stored("attention", "frozen");
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .run(RewrittenProgram.class, file.toString(), "frozen", "1x16x32");
        assertEquals(0, result.exitCode(), result.printed());
        assertEquals(List.of(), result.warnings());
    }

    @Test
    void close_whileTheModuleIsReplaced_isSafe() throws Exception {
        Path file = stored("cnn_traced", "optimize_for_inference");
        ModelInputs inputs = TorchScriptModels.named("cnn_traced").inputSets().get(0);
        for (int i = 0; i < 30; i++) {
            try (ZooModel<NDList, NDList> model = Torch.load(file, STORED)) {
                if (i % 2 == 0) {
                    assertEquals(1, Torch.predict(model, inputs, i).size());
                }
            }
        }
    }

    @Test
    void predict_verified_comparesWithTheModuleThatServes() throws Exception {
        Path file = stored("attention", "packed-linear");
        ModelInputs inputs = TorchScriptModels.named("attention").inputSets().get(0);
        try (LogCapture log = new LogCapture();
                ZooModel<NDList, NDList> model =
                        Torch.load(
                                file,
                                Map.of("delegation.profile", "off", "memplan.verify", "true"))) {
            DelegationReport report = awaitChoice(model);
            assertEquals("packed-linear", report.delegate());
            List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
            for (int seed = 0; seed < SEEDS; seed++) {
                NearOutputs.assertNear(expected.get(seed), Torch.predict(model, inputs, seed));
            }
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @Test
    void load_pinnedJobWithoutAResult_fails() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("attention"), folder);
        Map<String, String> pinned = Map.of("delegation.onMissing", "fail");
        UnusableOptionException error =
                assertThrows(UnusableOptionException.class, () -> load(file, pinned));
        assertTrue(error.toString().contains("delegation.onMissing=fail"), error.toString());
        StoredChoice.of(file, "frozen");
        try (ZooModel<NDList, NDList> model = Torch.load(file, pinned)) {
            DelegationReport report = Torch.report(model).delegation().orElseThrow();
            assertEquals(Origin.STORED, report.origin());
            assertEquals("frozen", report.delegate());
        }
    }

    private static void load(Path file, Map<String, String> options) throws Exception {
        Torch.load(file, options).close();
    }

    @Test
    void load_withABudget_isNotRewritten() throws Exception {
        Path file = stored("cnn_traced", "frozen");
        ModelInputs inputs = TorchScriptModels.named("cnn_traced").inputSets().get(0);
        try (ZooModel<NDList, NDList> model =
                Torch.load(file, Map.of("delegation.profile", "off", "memplan.budget", "64MB"))) {
            assertEquals(Torch.stock(file, inputs, 1).get(0), Torch.predict(model, inputs, 0));
            assertTrue(Torch.report(model).delegation().isEmpty());
        }
        // It is written in the background, and the folder will be deleted.
        Await.until(() -> storedNames(file).stream().anyMatch(n -> n.endsWith(".weights.json")));
    }

    private static List<String> storedNames(Path file) throws IOException {
        try (Stream<Path> files = Files.list(file.resolveSibling(".djlplan"))) {
            return files.map(each -> each.getFileName().toString()).toList();
        }
    }

    /**
     * The copies of the weights that rewriting makes do not stay. The code of libtorch's passes and
     * of delegation takes 15 to 25 MB.
     */
    @Test
    @Tag("long")
    @NeedsModels(RealModels.TORCHSCRIPT)
    void predict_rewritten_takesHardlyMoreMemory() throws Exception {
        Path file = Torch.copy(RealModels.TORCHSCRIPT.file("resnet18"), folder);
        long planned = residentBytes(file, "planned");
        for (String recipe : List.of("frozen", "optimize_for_inference")) {
            StoredChoice.of(file, recipe);
            long rewritten = residentBytes(file, recipe);
            assertTrue(
                    rewritten <= 1.05 * planned + CODE_BYTES,
                    recipe + ": " + rewritten + " bytes, not rewritten " + planned);
        }
    }

    private long residentBytes(Path file, String recipe) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .run(RewrittenProgram.class, file.toString(), recipe, "1x3x224x224");
        assertEquals(0, result.exitCode(), result.printed());
        return Long.parseLong(result.out().strip().lines().reduce((a, b) -> b).orElseThrow());
    }

    /** A module that is not deleted takes 14 MB. */
    @Test
    @Tag("long")
    @NeedsModels(RealModels.TORCHSCRIPT)
    void load_oftenRewritten_leavesNoModules() throws Exception {
        Path file = Torch.copy(RealModels.TORCHSCRIPT.file("mobilenet_v2"), folder);
        StoredChoice.of(file, "optimize_for_inference");
        ModelInputs image = ModelInputs.floats(new long[] {1, 3, 224, 224});
        long afterTen = 0;
        for (int i = 0; i < 30; i++) {
            try (ZooModel<NDList, NDList> model = Torch.load(file, STORED)) {
                DelegationReport unused = awaitChoice(model);
                assertEquals(1, Torch.predict(model, image, i).size());
            }
            if (i == 9) {
                afterTen = ProcessSize.residentBytes();
            }
        }
        long grown = ProcessSize.residentBytes() - afterTen;
        assertTrue(grown < 100 << 20, grown + " bytes more than after ten loads");
    }
}
