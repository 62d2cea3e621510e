package org.djlplan.integration.flink;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.async.ResultFuture;
import org.apache.flink.streaming.api.functions.async.RichAsyncFunction;

/** A Flink function that classifies numbered images, several at once in each slot. */
public class ClassifyAsync extends RichAsyncFunction<Tuple2<Long, float[]>, Tuple2<Long, Integer>> {

    private static final long serialVersionUID = 1;

    private static final int THREADS = 2;

    private final String folder;

    private transient ZooModel<float[], Integer> model;
    private transient ExecutorService threads;

    /**
     * @param folder of the model, on each machine
     */
    public ClassifyAsync(String folder) {
        this.folder = folder;
    }

    @Override
    public void open(OpenContext context) throws Exception {
        model = SharedClassifier.model(getRuntimeContext(), Path.of(folder));
        threads = Executors.newFixedThreadPool(THREADS);
    }

    @Override
    public void asyncInvoke(
            Tuple2<Long, float[]> image, ResultFuture<Tuple2<Long, Integer>> result) {
        threads.execute(
                () -> {
                    try (Predictor<float[], Integer> predictor = model.newPredictor()) {
                        result.complete(List.of(Tuple2.of(image.f0, predictor.predict(image.f1))));
                    } catch (Exception e) {
                        result.completeExceptionally(e);
                    }
                });
    }

    @Override
    public void close() throws InterruptedException {
        if (model != null) {
            threads.shutdownNow();
            // Predictions that still run use the model.
            threads.awaitTermination(1, TimeUnit.MINUTES);
            model.close();
        }
    }
}
