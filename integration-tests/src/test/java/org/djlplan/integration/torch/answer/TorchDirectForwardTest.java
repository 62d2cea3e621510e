package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests calls of a block's {@code forward} outside a predictor: all arrays stay alive, as without
 * djl-plan, and the report counts no prediction.
 */
class TorchDirectForwardTest {

    private static final int SEEDS = 4;

    @TempDir Path folder;

    private Runnable resetCache;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
        resetCache = Torch.useCache(folder.resolve("cache"));
    }

    @AfterEach
    void everythingIsFreed() {
        resetCache.run();
        Torch.assertNoArenas();
    }

    @Test
    void forward_torchScript_doesNotChangeThePlan() throws Exception {
        TorchScriptModel script = TorchScriptModels.named("cnn");
        Path direct = Torch.copy(script, folder);
        Path never = Torch.copy(script, folder);
        ModelInputs inputs = script.inputSets().get(0);
        List<List<Output>> expected = Torch.stock(script.file(), inputs, SEEDS);
        long undisturbed;
        try (ZooModel<NDList, NDList> model = Torch.load(never, Map.of())) {
            undisturbed = predictAndReport(model, inputs, expected).plan().arenaBytes();
        }
        try (ZooModel<NDList, NDList> model = Torch.load(direct, Map.of())) {
            assertDisturbsNothing(model, inputs, expected, undisturbed);
        }
    }

    @Test
    void forward_imperativeBlock_doesNotChangeThePlan() throws Exception {
        Path direct = Files.createDirectory(folder.resolve("direct"));
        Path never = Files.createDirectory(folder.resolve("never"));
        BlockModels.save(BlockModels.Kind.CUSTOM, direct);
        BlockModels.save(BlockModels.Kind.CUSTOM, never);
        List<List<Output>> expected;
        try (ZooModel<NDList, NDList> model =
                BlockModels.loadStock(BlockModels.Kind.CUSTOM, never)) {
            expected =
                    Stream.iterate(0L, seed -> seed < SEEDS, seed -> seed + 1)
                            .map(seed -> predict(model, seed))
                            .toList();
        }
        long undisturbed;
        try (ZooModel<NDList, NDList> model =
                BlockModels.load(BlockModels.Kind.CUSTOM, never, Map.of())) {
            undisturbed = predictAndReport(model, BlockModels.INPUTS, expected).plan().arenaBytes();
        }
        try (ZooModel<NDList, NDList> model =
                BlockModels.load(BlockModels.Kind.CUSTOM, direct, Map.of())) {
            assertDisturbsNothing(model, BlockModels.INPUTS, expected, undisturbed);
        }
    }

    private static List<Output> predict(ZooModel<NDList, NDList> model, long seed) {
        try {
            return Torch.predict(model, BlockModels.INPUTS, seed);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Calls the block before the first prediction and between later ones. */
    private static void assertDisturbsNothing(
            ZooModel<NDList, NDList> model,
            ModelInputs inputs,
            List<List<Output>> expected,
            long arenaBytes)
            throws Exception {
        for (int call = 0; call < 3; call++) {
            assertEquals(expected.get(1), forward(model, inputs, 1));
        }
        assertEquals(3, Torch.report(model).predictions().unplanned());
        PlanReport planned = predictAndReport(model, inputs, expected);
        assertEquals(arenaBytes, planned.plan().arenaBytes());
        for (int call = 0; call < 5; call++) {
            assertEquals(expected.get(2), forward(model, inputs, 2));
        }
        PlanReport after = predictAndReport(model, inputs, expected);
        assertEquals(arenaBytes, after.plan().arenaBytes());
        assertEquals(planned.predictions().unplanned() + 5, after.predictions().unplanned());
    }

    private static List<Output> forward(
            ZooModel<NDList, NDList> model, ModelInputs inputs, long seed) {
        try (NDManager manager = model.getNDManager().newSubManager()) {
            ParameterStore parameters = new ParameterStore(manager, false);
            return Output.copyOf(
                    model.getBlock().forward(parameters, inputs.create(manager, seed), false));
        }
    }

    private static PlanReport predictAndReport(
            ZooModel<NDList, NDList> model, ModelInputs inputs, List<List<Output>> expected)
            throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < expected.size(); seed++) {
                assertEquals(expected.get(seed), Torch.predict(predictor, inputs, seed));
            }
        }
        PlanReport report = Torch.report(model);
        assertTrue(report.planned() && report.plan().arenaBytes() > 0, report.toString());
        return report;
    }
}
