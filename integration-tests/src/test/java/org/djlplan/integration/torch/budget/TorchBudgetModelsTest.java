package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.BudgetReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests torchvision networks in a budget. */
@NeedsModels(RealModels.TORCHSCRIPT)
class TorchBudgetModelsTest {

    private static final ModelInputs IMAGE = ModelInputs.floats(new long[] {1, 3, 224, 224});
    private static final int SEEDS = 7;

    @TempDir private Path folder;

    @BeforeEach
    void useOneThread() {
        Torch.threads(1);
    }

    @ParameterizedTest
    @CsvSource({
        "squeezenet1_1,60MB,mmap",
        "mobilenet_v2,60MB,direct",
        "densenet121,64MB,mmap",
        "resnet18,64MB,mmap",
        "resnet18,64MB,direct"
    })
    void predict_unsliced_isSameAnswer(String name, String budget, String io) throws Exception {
        Path file = Torch.copy(RealModels.TORCHSCRIPT.file(name), folder);
        List<List<Output>> expected = Torch.stock(file, IMAGE, SEEDS);
        for (int load = 0; load < 2; load++) {
            try (ZooModel<NDList, NDList> model =
                            Torch.load(file, Map.of("memplan.budget", budget + ":" + io));
                    Predictor<NDList, NDList> predictor = model.newPredictor()) {
                for (int seed = 0; seed < SEEDS; seed++) {
                    assertEquals(expected.get(seed), Torch.predict(predictor, IMAGE, seed), name);
                }
                BudgetReport report = Torch.report(model).budget().orElseThrow();
                assertEquals(0, report.slicedOperators());
                assertTrue(report.weightsBytes() > 0);
            }
        }
        Torch.assertNoArenas();
    }

    /** The largest convolutions of ResNet-18, of 9.4 MB, take more than a fifth of the budget. */
    @Test
    void predict_sliced_differsInTheLastBitsOnly() throws Exception {
        Path file = Torch.copy(RealModels.TORCHSCRIPT.file("resnet18"), folder);
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> model =
                        Torch.load(file, Map.of("memplan.budget", "47MB"));
                Predictor<NDList, NDList> expected = stock.newPredictor();
                Predictor<NDList, NDList> actual = model.newPredictor()) {
            for (int seed = 0; seed < SEEDS; seed++) {
                assertClose(values(expected, seed), values(actual, seed));
            }
            BudgetReport report = Torch.report(model).budget().orElseThrow();
            assertTrue(report.slicedOperators() > 0, report.toString());
        }
    }

    private static float[] values(Predictor<NDList, NDList> predictor, long seed) throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            return predictor.predict(IMAGE.create(manager, seed)).head().toFloatArray();
        }
    }

    private static void assertClose(float[] expected, float[] actual) {
        float largest = 0;
        for (float value : expected) {
            largest = Math.max(largest, Math.abs(value));
        }
        assertEquals(expected.length, actual.length);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], actual[i], 1e-6 * largest, "value " + i);
        }
    }
}
