package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.inference.streaming.StreamingTranslator;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelZoo;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import ai.djl.translate.TranslatorFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests djl-plan's TFLite engine on current DJL, which has no such engine of its own. */
@Tag("djl-current")
class CurrentDjlTest {

    private static final float[] VALUES = {1, -2, 3, 0.5f};
    private static final int HIDDEN = 7;
    private static final int OUTPUTS = 3;

    @TempDir Path folder;

    private static SequentialBlock block() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(HIDDEN).build())
                .add(Activation.reluBlock())
                .add(Linear.builder().setUnits(OUTPUTS).build());
    }

    @BeforeEach
    void saveModel() throws Exception {
        try (Model model = Model.newInstance("linear", "PyTorch")) {
            SequentialBlock block = block();
            block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, VALUES.length));
            model.setBlock(block);
            model.save(folder, "linear");
        }
    }

    private <I, O> ZooModel<I, O> load(
            Class<I> input, Class<O> output, Optional<TranslatorFactory> factory) throws Exception {
        Criteria.Builder<I, O> criteria =
                Criteria.builder()
                        .setTypes(input, output)
                        .optEngine("PyTorch")
                        .optModelPath(folder)
                        .optModelName("linear")
                        .optBlock(block());
        factory.ifPresent(criteria::optTranslatorFactory);
        return criteria.build().loadModel();
    }

    private static float[] predict(ZooModel<NDList, NDList> model) throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            NDList input =
                    new NDList(model.getNDManager().create(VALUES, new Shape(1, VALUES.length)));
            return predictor.predict(input).head().toFloatArray();
        }
    }

    @Test
    void classPath_hasCurrentDjlAndNotItsOldTfLite() {
        assertEquals(System.getProperty("djlplan.expectedDjl"), Engine.getDjlVersion());
        assertEquals("PyTorch", Engine.getDefaultEngineName());
        assertThrows(
                ClassNotFoundException.class,
                () -> Class.forName("ai.djl.tflite.engine.TfLiteSymbolBlock"));
    }

    @Test
    void load_withoutOurFactory_worksAsBefore() throws Exception {
        assertFalse(ModelZoo.listModelZoo().isEmpty());
        try (ZooModel<NDList, NDList> model = load(NDList.class, NDList.class, Optional.empty())) {
            assertEquals(OUTPUTS, predict(model).length);
            assertTrue(PlanReport.of(model).isEmpty());
        }
    }

    @Test
    void batchPredict_translatorOfBatches_isAskedForBatches() throws Exception {
        BatchingTranslator translator = new BatchingTranslator();
        Metrics metrics = new Metrics();
        try (ZooModel<float[], float[]> model =
                        load(
                                float[].class,
                                float[].class,
                                Optional.of(PlannedTranslatorFactory.wrap(translator)));
                Predictor<float[], float[]> bare = model.newPredictor(translator);
                Predictor<float[], float[]> wrapped = model.newPredictor()) {
            List<float[]> inputs = List.of(VALUES, new float[] {4, 3, 2, 1});
            List<float[]> expected = bare.batchPredict(inputs);
            assertEquals(1, translator.batches());
            wrapped.setMetrics(metrics);
            List<float[]> actual = wrapped.batchPredict(inputs);
            assertEquals(2, translator.batches());
            assertEquals(expected.size(), actual.size());
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i), actual.get(i));
            }
        }
        assertTrue(metrics.hasMetric("Inference"), "DJL's own metrics");
        assertEquals(1, metrics.getMetric("ArenaBytes").size());
    }

    @Test
    void newInstance_translatorsOfSpecialKinds_staySo() throws Exception {
        try (ZooModel<NDList, NDList> model = load(NDList.class, NDList.class, Optional.empty())) {
            assertInstanceOf(NoBatchifyTranslator.class, wrap(new Plain(), model));
            Translator<?, ?> streaming = wrap(new Streaming(), model);
            assertEquals(
                    StreamingTranslator.Support.ITERATIVE,
                    assertInstanceOf(StreamingTranslator.class, streaming).getSupport());
        }
    }

    private static Translator<NDList, NDList> wrap(
            Translator<NDList, NDList> translator, Model model) throws Exception {
        return PlannedTranslatorFactory.wrap(translator)
                .newInstance(NDList.class, NDList.class, model, Map.of());
    }

    private static class Plain implements NoBatchifyTranslator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList input) {
            return input;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList output) {
            return output;
        }
    }

    private static final class Streaming extends Plain
            implements StreamingTranslator<NDList, NDList> {

        @Override
        public StreamOutput<NDList> processStreamOutput(
                TranslatorContext context, Stream<NDList> outputs) {
            throw new AssertionError("nobody streams");
        }

        @Override
        public Support getSupport() {
            return Support.ITERATIVE;
        }
    }
}
