package org.djlplan.integration.torch.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.BlockModels.Kind;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the options of PyTorch models. */
class TorchOptionsTest implements TorchTests {

    private static final ModelInputs IMAGES = TorchScriptModels.named("cnn").inputSets().get(0);
    private static final int SEEDS = 8;

    @TempDir Path folder;

    private static List<List<Output>> answers(ZooModel<NDList, NDList> model, ModelInputs inputs)
            throws Exception {
        List<List<Output>> answers = new ArrayList<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            answers.add(Torch.predict(model, inputs, seed));
        }
        return answers;
    }

    @ParameterizedTest
    @ValueSource(strings = {"cnn", "tuple_outputs", "in_place", "lstm", "branch", "same_twice"})
    void verify_modelThatRepeatsItself_staysPlanned(String name) throws Exception {
        Path file = Torch.copy(TorchScriptModels.named(name), folder);
        ModelInputs inputs = TorchScriptModels.named(name).inputSets().get(0);
        List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Torch.load(file, Map.of("memplan.verify", true))) {
            assertEquals(expected, answers(model, inputs));
            assertEquals(List.of(), log.ours("WARN"));
            assertEquals(SEEDS, Torch.report(model).predictions().total());
            assertTrue(Torch.report(model).plan().arenaBytes() > 0);
        }
    }

    /**
     * Each verification calls the model twice, and a third time if outputs differ. The mean of
     * equal inputs is the input itself, so the first verification finds no difference.
     */
    @Test
    void verify_modelThatCountsItsCalls_answersAsStockAndStaysPlanned() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("counter"), folder);
        ModelInputs inputs = TorchScriptModels.named("counter").inputSets().get(0);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> model = Torch.load(file, Map.of("memplan.verify", true))) {
            List<List<Output>> calls = new ArrayList<>();
            for (long seed : new long[] {0, 0, 1, 1, 1, 2, 3}) {
                calls.add(Torch.predict(stock, inputs, seed));
            }
            assertEquals(calls.get(1), Torch.predict(model, inputs, 0));
            assertEquals(calls.get(2), Torch.predict(model, inputs, 1));
            assertEquals(calls.get(5), Torch.predict(model, inputs, 2));
            assertEquals(calls.get(6), Torch.predict(model, inputs, 3));
            assertEquals(List.of(), log.ours("WARN"));
            assertTrue(Torch.report(model).planned());
            assertEquals(4, Torch.report(model).predictions().total());
        }
    }

    @Test
    void warmup_shapesGiven_predictsWhileLoading() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("loop"), folder);
        ModelInputs inputs = TorchScriptModels.named("loop").inputSets().get(1);
        Map<String, ?> arguments = Map.of("memplan.warmup", "5,32;1:int64");
        List<Output> expected = Torch.stock(file, inputs, 1).get(0);
        try (ZooModel<NDList, NDList> model = Torch.load(file, arguments)) {
            PlanReport loaded = Torch.report(model);
            assertEquals(0, loaded.predictions().unplanned());
            assertEquals(expected, Torch.predict(model, inputs, 0));
            assertEquals(
                    loaded.predictions().total() + 1, Torch.report(model).predictions().total());
        }
    }

    @Test
    void warmup_torchScriptWithoutShapes_warnsOnceAndPredictsLater() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<List<Output>> expected = Torch.stock(file, IMAGES, SEEDS);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Torch.load(file, Map.of("memplan.warmup", true))) {
            assertEquals(1, log.ours("WARN").size());
            assertTrue(log.ours("WARN").get(0).contains("memplan.warmup="));
            assertEquals(expected, answers(model, IMAGES));
        }
    }

    @ParameterizedTest
    @EnumSource(names = "SEQUENTIAL")
    void warmup_imperativeWithoutShapes_predictsThoseItHas(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        Map<String, ?> arguments = Map.of("memplan.warmup", true, "memplan.liveness", "off");
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> model = BlockModels.load(kind, folder, arguments)) {
            assertEquals(List.of(), log.ours("WARN"));
            assertEquals(answers(stock, BlockModels.INPUTS), answers(model, BlockModels.INPUTS));
            assertEquals(0, Torch.report(model).predictions().unplanned());
        }
    }
}
