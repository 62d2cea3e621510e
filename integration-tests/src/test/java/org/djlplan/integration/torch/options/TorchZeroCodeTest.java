package org.djlplan.integration.torch.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.BlockModels.Kind;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.PlannedBlockFactory;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests planning that is configured without a line of code. */
@OnEveryDjl
class TorchZeroCodeTest implements TorchTests {

    private static final ModelInputs IMAGES = TorchScriptModels.named("cnn").inputSets().get(0);
    private static final int SEEDS = 4;
    private static final String BLOCK_FACTORY =
            "blockFactory=" + PlannedBlockFactory.class.getName() + "\n";

    @TempDir Path folder;

    private static Criteria.Builder<NDList, NDList> arrays() {
        return Criteria.builder().setTypes(NDList.class, NDList.class).optEngine("PyTorch");
    }

    private static void assertPlanned(
            ZooModel<NDList, NDList> model, ModelInputs inputs, List<List<Output>> expected)
            throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            assertEquals(expected.get(seed), Torch.predict(model, inputs, seed));
        }
        PlanReport report = Torch.report(model);
        assertTrue(report.planned());
        assertEquals(SEEDS, report.predictions().total());
        assertEquals(0, report.predictions().unplanned());
        assertTrue(report.plan().arenaBytes() > 0);
    }

    @Test
    void load_factoryInQueryOfUrl_plans() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        String url =
                file.toUri() + ("?translatorFactory=" + PlannedTranslatorFactory.class.getName());
        try (ZooModel<NDList, NDList> model = arrays().optModelUrls(url).build().loadModel()) {
            assertPlanned(model, IMAGES, Torch.stock(file, IMAGES, SEEDS));
        }
        String off = url + "&memplan.enabled=false";
        try (ZooModel<NDList, NDList> model = arrays().optModelUrls(off).build().loadModel()) {
            assertTrue(PlanReport.of(model).isEmpty());
        }
    }

    @Test
    void load_blockFactoryInServingProperties_plansTheFile() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<List<Output>> expected = Torch.stock(file, IMAGES, SEEDS);
        Files.writeString(
                file.resolveSibling("serving.properties"),
                BLOCK_FACTORY + "option.hasParameter=false\n");
        for (int load = 0; load < 3; load++) {
            try (ZooModel<NDList, NDList> model =
                    arrays().optModelPath(file.getParent())
                            .optModelName("cnn")
                            .build()
                            .loadModel()) {
                if (load == 0) {
                    assertPlanned(model, IMAGES, expected);
                } else {
                    assertEquals(expected.get(0), Torch.predict(model, IMAGES, 0));
                    assertEquals(0, Torch.report(model).predictions().unplanned());
                }
            }
            Torch.assertNoArenas();
        }
    }

    @Test
    void load_blockFactoryAndNoPlanning_runsTheFile() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<List<Output>> expected = Torch.stock(file, IMAGES, SEEDS);
        Files.writeString(
                file.resolveSibling("serving.properties"),
                BLOCK_FACTORY + "option.hasParameter=false\nmemplan.enabled=false\n");
        try (ZooModel<NDList, NDList> model =
                arrays().optModelPath(file.getParent()).optModelName("cnn").build().loadModel()) {
            assertEquals(expected.get(1), Torch.predict(model, IMAGES, 1));
            assertTrue(PlanReport.of(model).isEmpty());
        }
    }

    @Test
    void load_blockFactoryAndUnknownOption_isAnError() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        Files.writeString(
                file.resolveSibling("serving.properties"),
                BLOCK_FACTORY + "option.hasParameter=false\nmemplan.worker=1\n");
        Exception refused =
                assertThrows(
                        IllegalArgumentException.class,
                        () ->
                                arrays().optModelPath(file.getParent())
                                        .optModelName("cnn")
                                        .build()
                                        .loadModel());
        String reason = refused.getMessage();
        assertTrue(reason.endsWith("memplan.workers"), reason);
    }

    @Test
    void load_blockFactoryWrapsAnother_plansTheImperativeBlock() throws Exception {
        BlockModels.save(Kind.CUSTOM, folder);
        Files.writeString(
                folder.resolve("serving.properties"),
                BLOCK_FACTORY
                        + "memplan.liveness=off\n"
                        + "memplan.blockFactory="
                        + BlockModels.Factory.class.getName()
                        + "\n");
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(Kind.CUSTOM, folder);
                ZooModel<NDList, NDList> model =
                        arrays().optModelPath(folder)
                                .optModelName(BlockModels.NAME)
                                .build()
                                .loadModel()) {
            List<List<Output>> expected =
                    List.of(
                            Torch.predict(stock, BlockModels.INPUTS, 0),
                            Torch.predict(stock, BlockModels.INPUTS, 1),
                            Torch.predict(stock, BlockModels.INPUTS, 2),
                            Torch.predict(stock, BlockModels.INPUTS, 3));
            assertPlanned(model, BlockModels.INPUTS, expected);
        }
    }

    /** With both a translator factory and a block factory, the model is planned only once. */
    @Test
    void load_bothFactories_plansOnce() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<List<Output>> expected = Torch.stock(file, IMAGES, SEEDS);
        Files.writeString(
                file.resolveSibling("serving.properties"),
                BLOCK_FACTORY + "option.hasParameter=false\n");
        try (ZooModel<NDList, NDList> model =
                arrays().optModelPath(file.getParent())
                        .optModelName("cnn")
                        .optTranslatorFactory(new PlannedTranslatorFactory())
                        .build()
                        .loadModel()) {
            assertPlanned(model, IMAGES, expected);
        }
    }
}
