package com.example.embedding;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * Embeds the texts that wait at the same time in one batch. A batch does not wait until it is full:
 * while one batch is computed, the next one gathers texts.
 */
@Component
public class MicroBatches implements DisposableBean {

    private static final int MOST_TEXTS = 16;

    private final ZooModel<String, float[]> model;
    private final BlockingQueue<Request> waiting = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::run, "micro-batches");

    private record Request(String text, CompletableFuture<float[]> embedding) {}

    MicroBatches(ZooModel<String, float[]> model) {
        this.model = model;
        thread.setDaemon(true);
        thread.start();
    }

    CompletableFuture<float[]> embed(String text) {
        Request request = new Request(text, new CompletableFuture<>());
        waiting.add(request);
        return request.embedding;
    }

    private void run() {
        try (Predictor<String, float[]> predictor = model.newPredictor()) {
            while (true) {
                List<Request> batch = new ArrayList<>();
                batch.add(waiting.take());
                waiting.drainTo(batch, MOST_TEXTS - 1);
                embed(predictor, batch);
            }
        } catch (InterruptedException e) {
            waiting.forEach(request -> request.embedding.cancel(false));
        }
    }

    private static void embed(Predictor<String, float[]> predictor, List<Request> batch) {
        try {
            List<float[]> embeddings =
                    predictor.batchPredict(batch.stream().map(Request::text).toList());
            for (int i = 0; i < batch.size(); i++) {
                batch.get(i).embedding.complete(embeddings.get(i));
            }
        } catch (TranslateException | RuntimeException e) {
            batch.forEach(request -> request.embedding.completeExceptionally(e));
        }
    }

    /** Ends before the model is closed. */
    @Override
    public void destroy() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
