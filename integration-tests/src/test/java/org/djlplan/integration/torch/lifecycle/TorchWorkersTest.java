package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.TorchTests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests predictions of many threads, whose forward passes run on few workers. */
@Timeout(240)
@OnEveryDjlWhenLong
class TorchWorkersTest implements TorchTests {

    private static final int CALLERS = 16;
    private static final int CALLS = 20;

    /** Calls have several passes; the arena of an earlier pass must be available to others. */
    @Test
    void batchPredict_manyCallers_sameAnswers() throws Exception {
        DoingModel.OneNumber large =
                new DoingModel.OneNumber() {
                    @Override
                    public NDList processInput(TranslatorContext context, Float input) {
                        return new NDList(
                                context.getNDManager().ones(new Shape(256, 256)).mul(input));
                    }

                    @Override
                    public Float processOutput(TranslatorContext context, NDList outputs) {
                        float result = outputs.head().getFloat(0, 0);
                        outputs.close();
                        return result;
                    }
                };
        try (DoingModel<Float, Float> model =
                new DoingModel<>(x -> x.mul(2).add(1), large, Map.of("memplan.workers", 2))) {
            List<Float> inputs = List.of(1f, 2f, 3f, 4f);
            List<Float> expected = List.of(3f, 5f, 7f, 9f);
            Threads.all(
                    CALLERS,
                    thread -> {
                        try (Predictor<Float, Float> predictor = model.newPredictor()) {
                            for (int i = 0; i < CALLS; i++) {
                                assertEquals(expected, predictor.batchPredict(inputs));
                            }
                        }
                        return true;
                    });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void predict_manyCallers_passesRunOnFewThreadsAndNotMoreAtOnce(int workers) throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    NDArray result = x.mul(2).add(1);
                    now.decrementAndGet();
                    return result;
                };
        try (DoingModel<Float, Float> model = DoingModel.of(work, workers)) {
            Threads.all(
                    CALLERS,
                    thread -> {
                        for (int i = 0; i < CALLS; i++) {
                            assertEquals(2f * i + 1, model.predict((float) i));
                        }
                        return true;
                    });
        }
        assertTrue(most.get() <= workers, most + " at once");
        long own = used.stream().filter(Callers::isWorker).count();
        assertTrue(own <= workers, used.toString());
    }

    /** It is unknown how a block uses its thread, so by default it runs on the thread of DJL. */
    @ParameterizedTest
    @ValueSource(strings = {"memplan.workers=0", "memplan.enabled=true"})
    void predict_zeroWorkersOrImpureBlockByDefault_runsOnTheThreadThatCalls(String option)
            throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        UnaryOperator<NDArray> work =
                x -> {
                    used.add(Thread.currentThread());
                    return x.add(1);
                };
        String[] parts = option.split("=", 2);
        try (DoingModel<Float, Float> model =
                new DoingModel<>(work, new DoingModel.OneNumber(), Map.of(parts[0], parts[1]))) {
            Threads.all(4, thread -> model.predict(1f));
        }
        assertEquals(4, used.size());
    }

    /** One model predicts in the forward pass of another, with one worker for both. */
    @Test
    void predict_insideAForwardPass_endsAndIsRight() throws Exception {
        try (DoingModel<Float, Float> inner = DoingModel.of(x -> x.add(10), 1)) {
            UnaryOperator<NDArray> work =
                    x -> {
                        try {
                            return x.add(inner.predict(x.getFloat(0)));
                        } catch (TranslateException e) {
                            throw new AssertionError(e);
                        }
                    };
            try (DoingModel<Float, Float> outer = DoingModel.of(work, 1)) {
                List<Float> answers = Threads.all(4, thread -> outer.predict(1f));
                assertEquals(List.of(12f, 12f, 12f, 12f), answers);
            }
        }
    }

    /** Counts the calls between pre-processing and post-processing. */
    private static final class Gated implements NoBatchifyTranslator<Float, Float> {

        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final UnaryOperator<Float> before;

        Gated(UnaryOperator<Float> before) {
            this.before = before;
        }

        @Override
        public NDList processInput(TranslatorContext context, Float input) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            try {
                return new NDList(context.getNDManager().create(before.apply(input)));
            } catch (RuntimeException e) {
                now.decrementAndGet();
                throw e;
            }
        }

        @Override
        public Float processOutput(TranslatorContext context, NDList outputs) {
            now.decrementAndGet();
            return outputs.head().getFloat();
        }
    }

    @Test
    void predict_withAGate_soManyAreUnderWayAndFailuresLeaveIt() throws Exception {
        Gated translator =
                new Gated(
                        input -> {
                            if (input < 0) {
                                throw new IllegalArgumentException("negative");
                            }
                            return input;
                        });
        try (DoingModel<Float, Float> model =
                new DoingModel<>(x -> x.add(1), translator, Map.of("memplan.maxPredictions", 2))) {
            Threads.all(
                    CALLERS,
                    thread -> {
                        for (int i = 0; i < CALLS; i++) {
                            assertEquals(2f, model.predict(1f));
                            assertThrows(TranslateException.class, () -> model.predict(-1f));
                        }
                        return true;
                    });
        }
        assertTrue(translator.most.get() <= 2, translator.most + " under way");
    }

    /** A call inside another call has already passed the gate. */
    @Test
    void predict_insideATranslatorWithAGate_ends() throws Exception {
        List<DoingModel<Float, Float>> self = new ArrayList<>();
        Gated translator =
                new Gated(
                        input -> {
                            try {
                                return input > 1 ? self.get(0).predict(input - 1) : input;
                            } catch (TranslateException e) {
                                throw new AssertionError(e);
                            }
                        });
        try (DoingModel<Float, Float> model =
                new DoingModel<>(x -> x.add(1), translator, Map.of("memplan.maxPredictions", 1))) {
            self.add(model);
            assertEquals(4f, model.predict(3f));
            assertEquals(List.of(4f, 4f), Threads.all(2, thread -> model.predict(3f)));
        }
    }
}
