package org.djlplan.integration.torch.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the handle of a PyTorch model in service: shapes to warm up, limits of inputs, readiness.
 */
@OnEveryDjl
class TorchHandleTest {

    private static final ModelInputs SMALL = ModelInputs.floats(new long[] {1, 3, 32, 32});
    private static final ModelInputs WIDE = ModelInputs.floats(new long[] {1, 3, 16, 80});
    private static final int SMALL_BYTES = 4 * 3 * 32 * 32;

    @TempDir private Path folder;

    private static InputTooLargeException refusal(
            Predictor<NDList, NDList> predictor, ModelInputs inputs) {
        TranslateException refused =
                assertThrows(TranslateException.class, () -> Torch.predict(predictor, inputs, 0));
        return assertInstanceOf(InputTooLargeException.class, refused.getCause());
    }

    @Test
    void limitsOfOptions_largerInputs_areRefused() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        Map<String, ?> options =
                Map.of("memplan.maxRequest", SMALL_BYTES + "B", "memplan.limitDimensions", "64");
        try (ZooModel<NDList, NDList> model = Torch.load(file, options);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(
                    "cnn does not take an input of shape (1, 3, 16, 80): dimensions of at most 64",
                    refusal(predictor, WIDE).getMessage());
            assertEquals(
                    "cnn does not take inputs of 24576 bytes: at most 12288 bytes",
                    refusal(predictor, SMALL.ofBatch(2)).getMessage());
        }
        Torch.assertNoArenas();
    }

    @Test
    void load_limitsOfNothing_areRefused() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        for (Map<String, String> options :
                List.of(
                        Map.of("memplan.maxRequest", "0"),
                        Map.of("memplan.maxRequest", "much"),
                        Map.of("memplan.limitDimensions", "0"),
                        Map.of("memplan.limitDimensions", "1.5"),
                        Map.of("memplan.batchTokens", "-1"))) {
            IllegalArgumentException wrong =
                    assertThrows(IllegalArgumentException.class, () -> Torch.load(file, options));
            assertTrue(
                    wrong.getMessage().startsWith(options.keySet().iterator().next() + "="),
                    wrong.getMessage());
        }
    }

    @Test
    void warmUp_severalShapes_areAllPlanned() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            plan.warmUp("1,3,32,32", "1,3,16,80");
            long unplanned = plan.report().predictions().unplanned();
            assertTrue(plan.isReady());
            assertEquals(1, Torch.predict(predictor, WIDE, 0).size());
            assertEquals(1, Torch.predict(predictor, SMALL, 0).size());
            assertEquals(unplanned, plan.report().predictions().unplanned());
            assertThrows(IllegalArgumentException.class, () -> plan.warmUp("large"));
            assertThrows(TranslateException.class, () -> plan.warmUp("1,4,32,32"));
        }
        Torch.assertNoArenas();
    }
}
