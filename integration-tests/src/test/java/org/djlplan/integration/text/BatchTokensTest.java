package org.djlplan.integration.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Batchifier;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import ai.djl.translate.TranslatorFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code batchPredict} with {@code memplan.batchTokens}. */
@Tag("djl-current")
class BatchTokensTest implements TorchTests {

    private static final float TOLERANCE = 1e-5f;

    @TempDir Path folder;

    private ZooModel<String, float[]> embedding(Map<String, ?> options) throws Exception {
        Criteria.Builder<String, float[]> criteria =
                Criteria.builder()
                        .setTypes(String.class, float[].class)
                        .optEngine("PyTorch")
                        .optModelPath(
                                TextFiles.write(
                                        TorchScriptModels.text("text_states").file(), folder))
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(
                                        new TextEmbeddingTranslatorFactory()));
        options.forEach(criteria::optArgument);
        return criteria.build().loadModel();
    }

    @Test
    void batchPredict_textsOfAllLengths_sameAnswersInOrderWithLessMemory() throws Exception {
        List<String> texts = TextFiles.texts(80, 24, 1);
        List<float[]> expected;
        PlanReport whole;
        try (ZooModel<String, float[]> model = embedding(Map.of());
                Predictor<String, float[]> predictor = model.newPredictor()) {
            expected = predictor.batchPredict(texts);
            whole = Torch.report(model);
            assertEquals(1, whole.predictions().total());
        }
        try (ZooModel<String, float[]> model = embedding(Map.of("memplan.batchTokens", 128));
                Predictor<String, float[]> predictor = model.newPredictor()) {
            for (int round = 0; round < 2; round++) {
                List<float[]> embeddings = predictor.batchPredict(texts);
                assertEquals(texts.size(), embeddings.size());
                for (int i = 0; i < texts.size(); i++) {
                    assertArrayEquals(expected.get(i), embeddings.get(i), TOLERANCE, "text " + i);
                }
            }
            PlanReport grouped = Torch.report(model);
            assertTrue(grouped.predictions().total() > 10, grouped.toString());
            assertTrue(
                    peakBytes(grouped) < peakBytes(whole) / 4,
                    peakBytes(grouped) + " of " + peakBytes(whole));
            assertArrayEquals(expected.get(5), predictor.predict(texts.get(5)), TOLERANCE);
        }
    }

    private static long peakBytes(PlanReport report) {
        return report.peak().orElseThrow().predictionBytes();
    }

    /** Doubles series of numbers; batches are of one length. */
    private static final class Series implements Translator<float[], NDList> {

        @Override
        public NDList processInput(TranslatorContext context, float[] values) {
            if (values.length == 0) {
                throw new IllegalArgumentException("no values");
            }
            return new NDList(
                    context.getNDManager().create(values, new Shape(values.length / 24, 24)));
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            outputs.detach();
            return outputs;
        }

        @Override
        public Batchifier getBatchifier() {
            return Batchifier.STACK;
        }
    }

    @Test
    void batchPredict_oneInputFails_failsAndTheNextCallDoesNot() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("same_twice"), folder);
        TranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new Series()).with("memplan.batchTokens", 20);
        try (ZooModel<float[], NDList> model =
                        Criteria.builder()
                                .setTypes(float[].class, NDList.class)
                                .optEngine("PyTorch")
                                .optModelPath(file)
                                .optTranslatorFactory(factory)
                                .build()
                                .loadModel();
                Predictor<float[], NDList> predictor = model.newPredictor()) {
            List<float[]> series = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                series.add(new float[24 * 10]);
            }
            series.add(new float[0]);
            assertThrows(TranslateException.class, () -> predictor.batchPredict(series));
            List<NDList> outputs = predictor.batchPredict(series.subList(0, 12));
            assertEquals(6, Torch.report(model).predictions().total());
            for (NDList output : outputs) {
                assertEquals(new Shape(10, 24), output.head().getShape());
                output.close();
            }
        }
    }
}
