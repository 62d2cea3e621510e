package com.example.langchain4j;

import ai.djl.ModelException;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * LangChain4j's interface of embedding models over a DJL model. Any number of threads may use it.
 */
public final class DjlEmbeddingModel implements EmbeddingModel, AutoCloseable {

    private final ZooModel<String, float[]> model;

    /**
     * Loads a TorchScript encoder.
     *
     * @param folder has the file of the folder's name, and its {@code tokenizer.json}
     */
    public DjlEmbeddingModel(Path folder) throws IOException, ModelException {
        model =
                Criteria.builder()
                        .setTypes(String.class, float[].class)
                        .optEngine("PyTorch")
                        .optModelPath(folder)
                        // djl-plan's line. LangChain4j passes all segments of a document at once,
                        // so they run in groups of similar lengths.
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new TextEmbeddingTranslatorFactory())
                                        .with("memplan.batchTokens", 4096))
                        .build()
                        .loadModel();
    }

    @Override
    public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
        try (Predictor<String, float[]> predictor = model.newPredictor()) {
            List<String> texts = segments.stream().map(TextSegment::text).toList();
            return Response.from(
                    predictor.batchPredict(texts).stream().map(Embedding::from).toList());
        } catch (TranslateException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns what djl-plan did. */
    public String report() {
        return PlanReport.of(model).map(PlanReport::toString).orElse("stock");
    }

    @Override
    public void close() {
        model.close();
    }
}
