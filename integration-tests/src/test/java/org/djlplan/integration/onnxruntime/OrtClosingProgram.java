package org.djlplan.integration.onnxruntime;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * Closes models while threads predict with them. Inputs and outputs belong to the caller, because
 * DJL closes a model's own arrays under the engine. Prints how the predictions ended.
 */
final class OrtClosingProgram {

    private static final int ROUNDS = 60;
    private static final int THREADS = 4;
    private static final int SIDE = 256;

    private OrtClosingProgram() {}

    /**
     * Counts what becomes of predictions.
     *
     * @param right that returned stock's outputs before the model was closed
     * @param ended that threw an exception because the model was closed
     */
    private record Ends(int right, int ended) {}

    public static void main(String[] arguments) throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(Path.of(arguments[0]));
        List<ByteBuffer> expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = predict(stock);
        }
        int right = 0;
        int ended = 0;
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        for (int round = 0; round < ROUNDS; round++) {
            Map<String, ?> options = round % 3 == 0 ? Map.of("memplan.workers", 0) : Map.of();
            ZooModel<NDList, NDList> model = OrtModels.planned(file, options);
            CountDownLatch predicted = new CountDownLatch(THREADS);
            List<Future<Ends>> results = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                results.add(threads.submit(() -> predictUntilClosed(model, expected, predicted)));
            }
            predicted.await();
            Thread.sleep(round % 10);
            model.close();
            for (Future<Ends> result : results) {
                right += result.get().right();
                ended += result.get().ended();
            }
        }
        threads.shutdown();
        System.out.println("right " + (right >= ROUNDS * THREADS));
        System.out.println("ended " + (ended == ROUNDS * THREADS));
        System.out.println("arenas " + ArenaPool.shared().metric().arenaBytes());
    }

    private static Ends predictUntilClosed(
            ZooModel<NDList, NDList> model, List<ByteBuffer> expected, CountDownLatch predicted) {
        int right = 0;
        while (true) {
            try {
                List<ByteBuffer> outputs = predict(model);
                if (!outputs.equals(expected)) {
                    throw new AssertionError("wrong outputs");
                }
                right++;
                predicted.countDown();
            } catch (TranslateException | RuntimeException e) {
                Throwable cause = Throwables.getRootCause(e);
                if (model.getNDManager().isOpen()) {
                    throw new AssertionError(e);
                }
                if (cause instanceof IllegalStateException
                        || cause instanceof NullPointerException) {
                    return new Ends(right, 1);
                }
                throw new AssertionError(e);
            }
        }
    }

    private static List<ByteBuffer> predict(ZooModel<NDList, NDList> model)
            throws TranslateException {
        try (NDManager manager = NDManager.newBaseManager("OnnxRuntime");
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            NDList outputs = predictor.predict(OrtModels.image(manager, SIDE));
            outputs.attach(manager);
            return OrtModels.bytes(outputs);
        }
    }
}
