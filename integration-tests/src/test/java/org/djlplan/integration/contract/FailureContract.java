package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A prediction that fails throws a clear error, and later ones are as if it had not been. */
interface FailureContract extends Contract {

    /** Returns inputs of a wrong shape, rank, type or number. */
    private List<NDList> wrongInputs(ModelCase each, NDManager manager) {
        List<NDList> all = new ArrayList<>();
        for (ModelInputs inputs : engine().wrongInputs()) {
            all.add(inputs.create(manager, 1));
        }
        all.add(new NDList(each.inputs(manager, 0).head(), each.inputs(manager, 0).head()));
        all.add(new NDList());
        return all;
    }

    /**
     * Predicts; returns the outputs, or the kind of the error and the first line of its message.
     */
    private static Object outcome(Predictor<NDList, NDList> predictor, NDList inputs) {
        try (NDList outputs = predictor.predict(inputs)) {
            return ModelCase.bytes(outputs);
        } catch (TranslateException e) {
            Throwable cause = Throwables.getRootCause(e);
            String message = String.valueOf(cause.getMessage());
            return cause.getClass() + ": " + message.lines().findFirst().orElse("");
        }
    }

    @Test
    default void predict_wrongInputs_failsAndServesTheNext(@TempDir Path folder) throws Exception {
        ModelCase each = engine().models(folder).get(0);
        List<ByteBuffer> expected = each.stock(1).get(0);
        try (ZooModel<NDList, NDList> stock = each.loadStock();
                ZooModel<NDList, NDList> model = each.load();
                Predictor<NDList, NDList> ofStock = stock.newPredictor();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = engine().newManager()) {
            int failed = 0;
            for (NDList wrong : wrongInputs(each, manager)) {
                Object outcome = outcome(predictor, wrong);
                failed += outcome instanceof String ? 1 : 0;
                // DJL's own engine for TensorFlow Lite takes any inputs without an error.
                if (engine() != EngineCase.TFLITE) {
                    assertEquals(outcome(ofStock, wrong), outcome);
                }
                assertEquals(expected, each.predict(predictor, 0));
            }
            // Some engines take too many inputs, or inputs of another rank.
            assertTrue(failed >= 3, failed + " failed");
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertTrue(report.planned(), report.toString());
            assertEquals(0, PlannedModels.pools().arenas().inUse());
        }
    }

    /** Fails before or after the model runs, when that is asked for. */
    final class FailingTranslator implements NoBatchifyTranslator<NDList, NDList> {

        private final IllegalStateException failure = new IllegalStateException("as it should");

        private boolean before;
        private boolean after;

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            if (before) {
                throw failure;
            }
            return inputs;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            if (after) {
                throw failure;
            }
            return outputs;
        }
    }

    @Test
    default void predict_translatorFails_hasItsErrorAndServesTheNext(@TempDir Path folder)
            throws Exception {
        ModelCase each = engine().models(folder).get(0);
        List<ByteBuffer> expected = each.stock(1).get(0);
        FailingTranslator translator = new FailingTranslator();
        PlannedTranslatorFactory factory = PlannedTranslatorFactory.wrap(translator);
        try (ZooModel<NDList, NDList> model =
                each.criteria()
                        .optTranslatorFactory(
                                each.with(factory, Map.of("memplan.maxPredictions", 1)))
                        .build()
                        .loadModel()) {
            for (int i = 0; i < 6; i++) {
                translator.before = i % 3 == 0;
                translator.after = i % 3 == 1;
                if (i % 3 == 2) {
                    assertEquals(expected, each.predict(model, 0));
                } else {
                    TranslateException e =
                            assertThrows(TranslateException.class, () -> each.predict(model, 0));
                    assertSame(translator.failure, e.getCause());
                }
            }
            assertEquals(0, PlanReport.of(model).orElseThrow().predictions().unplanned());
            assertEquals(0, PlannedModels.pools().arenas().inUse());
            assertEquals(0, PlannedModels.pools().workers().busy());
        }
    }

    private static String refusal(ModelCase each, ZooModel<NDList, NDList> model, int seed) {
        TranslateException e =
                assertThrows(TranslateException.class, () -> each.predict(model, seed));
        return assertInstanceOf(InputTooLargeException.class, e.getCause()).getMessage();
    }

    @Test
    default void limits_largerInputs_areRefusedBeforeTheModelRuns(@TempDir Path folder)
            throws Exception {
        ModelCase each = engine().models(folder).get(0);
        List<ByteBuffer> expected = each.stock(1).get(0);
        try (ZooModel<NDList, NDList> model = each.load();
                NDManager manager = engine().newManager()) {
            PlanHandle handle = PlanHandle.of(model).orElseThrow();
            NDArray input = each.inputs(manager, 0).head();
            long bytes = input.toByteBuffer().remaining();
            handle.limitInputBytes(bytes - 1);
            assertEquals(
                    "%s does not take inputs of %d bytes: at most %d bytes"
                            .formatted(model.getName(), bytes, bytes - 1),
                    refusal(each, model, 0));
            handle.limitInputBytes(bytes);
            assertEquals(expected, each.predict(model, 0));
            handle.limitDimensions(31);
            assertEquals(
                    "%s does not take an input of shape %s: dimensions of at most 31"
                            .formatted(model.getName(), input.getShape()),
                    refusal(each, model, 0));
            assertEquals(1, handle.report().predictions().total());
            assertThrows(IllegalArgumentException.class, () -> handle.limitInputBytes(0));
            assertThrows(IllegalArgumentException.class, () -> handle.limitDimensions(-1));
        }
    }

    @Test
    default void maxRequest_predictionThatNeededMore_isRefusedFromThenOn(@TempDir Path folder)
            throws Exception {
        ModelCase each =
                engine().models(folder).stream()
                        .filter(any -> any.inputSets().size() > 1)
                        .findFirst()
                        .orElseThrow();
        List<List<ByteBuffer>> expected = each.stock(2);
        PlanReport.Peak peak;
        try (ZooModel<NDList, NDList> model = each.load()) {
            assertTrue(PlanReport.of(model).orElseThrow().peak().isEmpty());
            assertEquals(expected.get(1), each.predict(model, 1));
            assertEquals(expected.get(0), each.predict(model, 0));
            peak = PlanReport.of(model).orElseThrow().peak().orElseThrow();
            assertTrue(peak.processBytes().orElseThrow() > peak.predictionBytes());
        }
        List<List<Long>> large =
                each.inputSets().get(1).arrays().stream()
                        .map(array -> Longs.asList(array.shape().getShape()))
                        .toList();
        assertEquals(large, peak.inputShapes());
        long limit = peak.predictionBytes() - 1;
        try (ZooModel<NDList, NDList> model =
                each.load(Map.of("memplan.maxRequest", limit + "B"))) {
            assertEquals(expected.get(1), each.predict(model, 1));
            for (int i = 0; i < 2; i++) {
                String refusal = refusal(each, model, 1);
                assertTrue(
                        refusal.endsWith(
                                " needed %d bytes, and memplan.maxRequest is %d"
                                        .formatted(limit + 1, limit)),
                        refusal);
                assertEquals(expected.get(0), each.predict(model, 0));
            }
        }
    }
}
