package org.djlplan.integration.torch.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.report.MemoryReport;
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
    void limits_largerInputs_areRefusedBeforeTheModelRuns() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            assertEquals(1, Torch.predict(predictor, WIDE, 0).size());
            plan.limitDimensions(64);
            long before = plan.report().predictions().total();
            assertEquals(
                    "cnn does not take an input of shape (1, 3, 16, 80): dimensions of at most 64",
                    refusal(predictor, WIDE).getMessage());
            assertEquals(before, plan.report().predictions().total());
            assertEquals(1, Torch.predict(predictor, SMALL, 0).size());
            plan.limitInputBytes(SMALL_BYTES - 1);
            assertEquals(
                    "cnn does not take inputs of 12288 bytes: at most 12287 bytes",
                    refusal(predictor, SMALL).getMessage());
            plan.limitInputBytes(SMALL_BYTES);
            assertEquals(1, Torch.predict(predictor, SMALL, 0).size());
            refusal(predictor, SMALL.ofBatch(2));
            assertThrows(IllegalArgumentException.class, () -> plan.limitInputBytes(0));
            assertThrows(IllegalArgumentException.class, () -> plan.limitDimensions(-1));
        }
        Torch.assertNoArenas();
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

    @Test
    void meters_predictionsInAnArena_countAsPlanned() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            new PlanMetrics(model).bindTo(registry);
            for (int seed = 0; seed < 3; seed++) {
                assertEquals(1, Torch.predict(predictor, SMALL, seed).size());
            }
            assertEquals(3, predictions(registry, "true"));
            assertEquals(0, predictions(registry, "false"));
        }
        Torch.assertNoArenas();
    }

    private static double predictions(SimpleMeterRegistry registry, String planned) {
        return registry.get("djlplan.predictions")
                .tag("planned", planned)
                .functionCounter()
                .count();
    }

    /** New shapes make the engine compile kernels; the parts add up. */
    @Test
    void memory_afterPredictions_namesEachPart() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(1, Torch.predict(predictor, SMALL, 0).size());
            assertEquals(1, Torch.predict(predictor, SMALL, 1).size());
            MemoryReport memory = PlanHandle.of(model).orElseThrow().memory().orElseThrow();
            assertTrue(memory.arenasBytes() > 0, memory.toString());
            assertTrue(memory.weightsBytes() > 0, memory.toString());
            assertTrue(memory.kernelsBytes() >= 0, memory.toString());
            assertTrue(memory.heapBytes() > 0 && memory.jvmBytes() > 0, memory.toString());
            assertEquals(
                    memory.residentBytes(),
                    memory.heapBytes()
                            + memory.jvmBytes()
                            + memory.weightsBytes()
                            + memory.arenasBytes()
                            + memory.kernelsBytes()
                            + memory.engineBytes()
                            + memory.keptBytes()
                            + memory.filesBytes()
                            + memory.restBytes());
        }
    }

    @Test
    void limits_stockModel_areAnErrorAndModelIsReady() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        try (ZooModel<NDList, NDList> model =
                Torch.load(file, Map.of("memplan.enabled", "false"))) {
            PlanHandle.of(model)
                    .ifPresent(
                            plan -> {
                                assertTrue(plan.isReady());
                                assertThrows(
                                        IllegalStateException.class, () -> plan.limitInputBytes(1));
                            });
        }
    }
}
