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
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;
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
    void maxRequest_predictionThatNeededMore_isRefusedFromThenOn() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<Output> expected;
        PlanReport.Peak peak;
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertTrue(Torch.report(model).peak().isEmpty());
            expected = Torch.predict(predictor, SMALL, 0);
            assertEquals(1, Torch.predict(predictor, SMALL.ofBatch(4), 0).size());
            peak = Torch.report(model).peak().orElseThrow();
            assertEquals(List.of(List.of(4L, 3L, 32L, 32L)), peak.inputShapes());
            assertTrue(peak.processBytes().orElseThrow() > peak.predictionBytes(), peak.toString());
        }
        long limit = peak.predictionBytes() - 1;
        try (ZooModel<NDList, NDList> model =
                        Torch.load(file, Map.of("memplan.maxRequest", limit + "B"));
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(1, Torch.predict(predictor, SMALL.ofBatch(4), 0).size());
            for (int batch = 4; batch <= 5; batch++) {
                assertEquals(
                        "cnn does not take inputs of shapes (%d, 3, 32, 32): (4, 3, 32, 32) needed %d bytes, and memplan.maxRequest is %d"
                                .formatted(batch, limit + 1, limit),
                        refusal(predictor, SMALL.ofBatch(batch)).getMessage());
                assertEquals(expected, Torch.predict(predictor, SMALL, 0));
            }
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
            assertEquals(
                    Torch.report(model).peak().orElseThrow().predictionBytes(),
                    (long) registry.get("djlplan.peak.bytes").gauge().value());
            assertTrue(registry.get("djlplan.peak.process.bytes").gauge().value() > 1e6);
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
