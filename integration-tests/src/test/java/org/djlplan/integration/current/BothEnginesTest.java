package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests small models of TensorFlow Lite and PyTorch. The test runs on any platform, including an
 * emulated one.
 */
@Tag("djl-current")
@Tag("aarch64")
class BothEnginesTest {

    private static final int PREDICTIONS = 5;

    @TempDir Path folder;

    @ParameterizedTest
    @EnumSource(names = {"TINY_RESNET", "TINY_VGG"})
    void predict_tfLitePlanned_isTheEnginesToTheByte(BudgetModels network) throws Exception {
        OwnEngineTest.assertPlannedIsPlain(network.file());
    }

    @ParameterizedTest
    @EnumSource
    void predict_pyTorchRecordedAndReplayed_isTheEnginesToTheByte(BlockModels.Kind kind)
            throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, Map.of())) {
            assertEquals(predict(stock), predict(planned));
            PlanReport report = PlanReport.of(planned).orElseThrow();
            assertEquals(PREDICTIONS, report.predictions().total());
            assertTrue(report.predictions().unplanned() < PREDICTIONS, report.toString());
        }
    }

    private static List<List<Output>> predict(ZooModel<NDList, NDList> model) throws Exception {
        List<List<Output>> outputs = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < PREDICTIONS; seed++) {
                outputs.add(Torch.predict(predictor, BlockModels.INPUTS, seed));
            }
        }
        return outputs;
    }
}
