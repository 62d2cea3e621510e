package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a model gives the right answer whatever was chosen, and that a model that must not be
 * rewritten gives the stock engine's bytes, with the reason in the report.
 */
@OnEveryDjlWhenLong
class RewrittenAnswerTest {

    private static final int SEEDS = 4;

    /** The first prediction measures. */
    private static final Map<String, String> AT_ONCE =
            Map.of("delegation.profile", "blocking:100ms");

    /** Why a model runs as stock. */
    private static final ImmutableMap<String, String> REASONS =
            ImmutableMap.<String, String>builder()
                    .put("random_noise", "it draws random numbers (rand_like)")
                    .put("always_dropout", "it is in training mode")
                    .put("running_mean", "it changes its attribute mean")
                    .put("counter", "it changes its attribute")
                    .put("training_norm", "it is in training mode")
                    .put("several_methods", "it has other methods than forward: [encode]")
                    .put("fork", "it has other methods than forward")
                    .put("quantized", "it is quantized")
                    .put("half", "it computes in 16-bit floats")
                    .put("bfloat16", "it computes in 16-bit floats")
                    .buildOrThrow();

    /** Outputs that differ from one prediction to the next. */
    private static final Set<String> RANDOM = Set.of("random_noise", "always_dropout");

    @TempDir Path folder;

    @BeforeEach
    void useOneThread() {
        Torch.threads(1);
    }

    /** {@link RecipeTest} rewrites these models on every DJL. */
    @Tag("djl-current")
    @Tag("long")
    @ParameterizedTest
    @MethodSource("org.djlplan.integration.torch.TorchScriptModels#all")
    void predict_usualModel_givesTheRightAnswer(TorchScriptModel model) throws Exception {
        predict_hostileModel_givesTheRightAnswer(model);
    }

    @ParameterizedTest
    @MethodSource("org.djlplan.integration.torch.TorchScriptModels#hostile")
    void predict_hostileModel_givesTheRightAnswer(TorchScriptModel model) throws Exception {
        Path file = Torch.copy(model, folder);
        try (ZooModel<NDList, NDList> chosen = Torch.load(file, AT_ONCE);
                ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                Predictor<NDList, NDList> predictor = chosen.newPredictor();
                Predictor<NDList, NDList> stockPredictor = stock.newPredictor()) {
            for (ModelInputs inputs : model.inputSets()) {
                for (int seed = 0; seed < SEEDS; seed++) {
                    List<Output> expected = Torch.predict(stockPredictor, inputs, seed);
                    List<Output> outputs = Torch.predict(predictor, inputs, seed);
                    if (RANDOM.contains(model.name())) {
                        assertEquals(shapes(expected), shapes(outputs));
                    } else if (REASONS.containsKey(model.name())) {
                        assertEquals(expected, outputs);
                    } else {
                        NearOutputs.assertNear(expected, outputs);
                    }
                }
            }
            DelegationReport report = Torch.report(chosen).delegation().orElseThrow();
            assertEquals(Origin.MEASURED, report.origin(), report.toString());
            String reason = REASONS.get(model.name());
            if (reason != null) {
                assertEquals("stock", report.delegate(), report.toString());
                assertTrue(report.reason().contains(reason), report.reason());
            } else {
                assertFalse(report.reason().contains("nothing could be measured"), report.reason());
            }
        }
    }

    private static List<Shape> shapes(List<Output> outputs) {
        return outputs.stream().map(Output::shape).toList();
    }

    @Test
    void predict_modelRaises_reportsTheModelsError() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("raises"), folder);
        try (ZooModel<NDList, NDList> chosen = Torch.load(file, AT_ONCE);
                Predictor<NDList, NDList> predictor = chosen.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList large = new NDList(manager.full(new Shape(4, 16), 1000));
            TranslateException error =
                    assertThrows(TranslateException.class, () -> predictor.predict(large));
            assertTrue(
                    error.getCause().getMessage().contains("an element is too large"),
                    error.toString());
            NDList small = new NDList(manager.zeros(new Shape(4, 16)));
            assertEquals(new Shape(4, 16), predictor.predict(small).head().getShape());
        }
    }
}
