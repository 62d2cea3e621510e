package com.example.embedding;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Embeds one text per request: alone, or in a batch with other waiting texts. */
@RestController
public class EmbeddingController {

    private final ZooModel<String, float[]> model;
    private final MicroBatches batches;

    EmbeddingController(ZooModel<String, float[]> model, MicroBatches batches) {
        this.model = model;
        this.batches = batches;
    }

    @PostMapping("/embed")
    float[] embed(@RequestBody String text) throws TranslateException {
        try (Predictor<String, float[]> predictor = model.newPredictor()) {
            return predictor.predict(text);
        }
    }

    @PostMapping("/embed-batched")
    CompletableFuture<float[]> embedBatched(@RequestBody String text) {
        return batches.embed(text);
    }
}
