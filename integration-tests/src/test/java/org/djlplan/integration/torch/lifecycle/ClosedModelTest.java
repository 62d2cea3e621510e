package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests imperative models, and TorchScript models in a budget, that are closed while they predict.
 */
@OnEveryDjlWhenLong
class ClosedModelTest {

    private static final int CALLERS = 4;
    private static final int WIDTH = 1024;
    private static final int ROUNDS = 20;

    @TempDir Path folder;

    @BeforeEach
    void setThreads() {
        Torch.threads(1);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** Makes all arrays in the managers that DJL gives it, and a constant that lasts. */
    private static final class OwnArrays implements NoBatchifyTranslator<Integer, float[]> {

        private final Shape shape;
        private final Map<NDManager, NDArray> constants = new ConcurrentHashMap<>();

        OwnArrays(Shape shape) {
            this.shape = shape;
        }

        @Override
        public void prepare(TranslatorContext context) {
            NDManager predictor = context.getPredictorManager();
            constants.put(predictor, predictor.full(shape, 2.5f));
        }

        @Override
        public NDList processInput(TranslatorContext context, Integer input) {
            NDArray filled = context.getNDManager().full(shape, input.floatValue());
            NDArray constant = constants.get(context.getPredictorManager());
            return new NDList(filled.sub(constant).sin());
        }

        @Override
        public float[] processOutput(TranslatorContext context, NDList outputs) {
            return outputs.head().mul(3).toFloatArray();
        }
    }

    /** Shows that a pass runs, and stays in it until the model is closed. */
    private static final class Stop {

        private final CountDownLatch begun;
        private final CountDownLatch closed = new CountDownLatch(1);
        private volatile boolean stops;

        Stop(int passes) {
            begun = new CountDownLatch(passes);
        }

        NDList pass(NDList arrays) {
            if (stops) {
                begun.countDown();
                try {
                    assertTrue(closed.await(60, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return new NDList(arrays.head().mul(2));
        }
    }

    private static Block layers(Stop stop) {
        return new SequentialBlock()
                .add(BlockModels.linear(WIDTH))
                .add(new LambdaBlock(stop::pass, "stop"))
                .add(BlockModels.linear(WIDTH))
                .add(BlockModels.linear(WIDTH));
    }

    /** In a budget, which has room for some of the weights, one pass runs at a time. */
    @ParameterizedTest
    @CsvSource({
        "memplan.workers, auto, 4",
        "memplan.workers, 4, 4",
        "memplan.liveness, op, 4",
        "memplan.budget, 60MB, 1"
    })
    void close_imperativeModelInsideOfPasses_answersThem(String option, String value, int callers)
            throws Exception {
        BlockModels.save(layers(new Stop(0)), folder);
        Stop stop = new Stop(callers);
        ZooModel<Integer, float[]> model =
                Criteria.builder()
                        .setTypes(Integer.class, float[].class)
                        .optEngine("PyTorch")
                        .optModelPath(folder)
                        .optModelName(BlockModels.NAME)
                        .optBlock(layers(stop))
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(
                                                new OwnArrays(BlockModels.INPUT_SHAPE))
                                        .with(option, value)
                                        .with("delegation.enabled", false))
                        .build()
                        .loadModel();
        List<float[]> expected = new ArrayList<>();
        List<Predictor<Integer, float[]>> predictors = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            predictors.add(model.newPredictor());
            expected.add(predictors.get(i).predict(i));
        }
        stop.stops = true;
        CompletableFuture<List<float[]>> answers =
                inBackground(callers, caller -> predictors.get(caller).predict(caller));
        if (!stop.begun.await(20, TimeUnit.SECONDS)) {
            answers.get(1, TimeUnit.SECONDS);
        }
        model.close();
        stop.closed.countDown();
        List<float[]> answered = answers.get(60, TimeUnit.SECONDS);
        for (int i = 0; i < callers; i++) {
            assertArrayEquals(expected.get(i), answered.get(i));
        }
        for (Predictor<Integer, float[]> each : predictors) {
            assertThrows(TranslateException.class, () -> each.predict(1));
            each.close();
        }
    }

    private static <T> CompletableFuture<List<T>> inBackground(int threads, Threads.Work<T> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return Threads.all(
                                threads,
                                thread -> {
                                    Torch.threads(1);
                                    return work.run(thread);
                                });
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "64MB"})
    void close_torchScriptModelInABudget_eachPredictionIsRightOrRefused(String budget)
            throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        OwnArrays translator = new OwnArrays(new Shape(1, 3, 32, 32));
        for (int round = 0; round < ROUNDS; round++) {
            ZooModel<Integer, float[]> model =
                    Criteria.builder()
                            .setTypes(Integer.class, float[].class)
                            .optEngine("PyTorch")
                            .optModelPath(file)
                            .optTranslatorFactory(
                                    PlannedTranslatorFactory.wrap(translator)
                                            .with("memplan.budget", budget)
                                            .with("delegation.enabled", false))
                            .build()
                            .loadModel();
            AtomicBoolean closing = new AtomicBoolean();
            CountDownLatch predicted = new CountDownLatch(CALLERS);
            CompletableFuture<List<Integer>> right =
                    inBackground(CALLERS, caller -> predictUntilClosed(model, closing, predicted));
            assertTrue(predicted.await(60, TimeUnit.SECONDS));
            closing.set(true);
            model.close();
            int sum = right.get(60, TimeUnit.SECONDS).stream().mapToInt(count -> count).sum();
            assertTrue(sum >= CALLERS, sum + " predictions");
        }
    }

    private static int predictUntilClosed(
            ZooModel<Integer, float[]> model, AtomicBoolean closing, CountDownLatch predicted)
            throws Exception {
        try (Predictor<Integer, float[]> predictor = model.newPredictor()) {
            float[] expected = predictor.predict(1);
            while (true) {
                predicted.countDown();
                assertArrayEquals(expected, predictor.predict(1));
            }
        } catch (TranslateException | IllegalStateException e) {
            Throwable cause = Throwables.getRootCause(e);
            assertTrue(closing.get(), () -> "before the close: " + e);
            assertEquals(IllegalStateException.class, cause.getClass(), cause.toString());
            return CALLERS;
        }
    }
}
