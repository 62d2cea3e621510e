package com.example.springai;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.AbstractEmbeddingModel;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.stereotype.Component;

/** Spring AI's interface of embedding models over a DJL model. Any number of threads may use it. */
@Component
public class DjlEmbeddingModel extends AbstractEmbeddingModel {

    private final ZooModel<String, float[]> model;

    DjlEmbeddingModel(ZooModel<String, float[]> model) {
        this.model = model;
    }

    @Override
    public EmbeddingResponse call(EmbeddingRequest request) {
        try (Predictor<String, float[]> predictor = model.newPredictor()) {
            List<Embedding> embeddings = new ArrayList<>();
            for (float[] values : predictor.batchPredict(request.getInstructions())) {
                embeddings.add(new Embedding(values, embeddings.size()));
            }
            return new EmbeddingResponse(embeddings);
        } catch (TranslateException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public float[] embed(Document document) {
        return embed(document.getText());
    }
}
