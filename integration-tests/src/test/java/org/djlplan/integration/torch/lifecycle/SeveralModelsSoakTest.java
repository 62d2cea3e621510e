package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.UnaryOperator;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.gate.Gate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Six models of two engines, light and large ones, in one process: pools of callers come and go,
 * and models are loaded again, those of TensorFlow Lite during predictions. No answer is wrong, and
 * every prediction ends.
 */
@Tag("djl-current")
@Tag("stress")
@Timeout(1800)
class SeveralModelsSoakTest {

    private static final int PREDICTIONS = 100_000;
    private static final int POOLS = 40;
    private static final int MOST_CALLERS = 64;
    private static final int RELOAD_EVERY = 400;

    @TempDir Path folder;

    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger closedMeanwhile = new AtomicInteger();

    /** A loaded model, which predicts and compares the answer. */
    private interface Loaded {

        void predict() throws Exception;

        void close();
    }

    /** Loads a model with this number of workers. */
    private interface Loader {
        Loaded load(int workers) throws Exception;
    }

    /** A model in use. */
    private static final class Slot {
        private final Loaded loaded;
        private volatile boolean closed;

        Slot(Loaded loaded) {
            this.loaded = loaded;
        }
    }

    private static Loader tfLite(String name) {
        Path file = TestModels.built(name);
        List<ByteBuffer> inputs;
        List<ByteBuffer> expected;
        List<List<Integer>> shapes;
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            inputs = stock.randomInputs(1);
            expected = stock.run(inputs);
            shapes = stock.shapes();
        }
        return workers -> {
            ZooModel<NDList, NDList> model =
                    Planned.loadDirectly(
                            file, Map.of("memplan.threads", 1, "memplan.workers", workers));
            return new Loaded() {
                @Override
                public void predict() throws Exception {
                    assertEquals(expected, Planned.predict(model, inputs, shapes));
                }

                @Override
                public void close() {
                    model.close();
                }
            };
        };
    }

    private Loader torch(String name) throws Exception {
        TorchScriptModel script = TorchScriptModels.named(name);
        Path file = Torch.copy(script, folder);
        ModelInputs inputs = script.inputSets().get(0);
        List<Output> expected = Torch.stock(file, inputs, 1).get(0);
        return workers -> {
            ZooModel<NDList, NDList> model = Torch.load(file, Map.of("memplan.workers", workers));
            return new NotClosedMeanwhile(
                    () -> assertEquals(expected, Torch.predict(model, inputs, 0)), model::close);
        };
    }

    private static Loader block(UnaryOperator<NDArray> work) {
        return workers -> {
            DoingModel<Float, Float> model = DoingModel.of(work, workers);
            return new NotClosedMeanwhile(() -> assertEquals(3f, model.predict(2f)), model::close);
        };
    }

    /** A prediction that may fail. */
    private interface Prediction {
        void run() throws Exception;
    }

    /**
     * A PyTorch model. It is closed between two predictions, because DJL frees the arrays of those
     * that still run.
     */
    private static final class NotClosedMeanwhile implements Loaded {

        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final Prediction prediction;
        private final Runnable closing;

        NotClosedMeanwhile(Prediction prediction, Runnable closing) {
            this.prediction = prediction;
            this.closing = closing;
        }

        @Override
        public void predict() throws Exception {
            lock.readLock().lock();
            try {
                prediction.run();
            } finally {
                lock.readLock().unlock();
            }
        }

        @Override
        public void close() {
            lock.writeLock().lock();
            try {
                closing.run();
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    private Void predict(AtomicReferenceArray<Slot> slots, List<Loader> loaders, Random random)
            throws Exception {
        int number = random.nextInt(slots.length());
        if (random.nextInt(RELOAD_EVERY) == 0) {
            loads.incrementAndGet();
            Slot before =
                    slots.getAndSet(number, new Slot(loaders.get(number).load(random.nextInt(4))));
            before.closed = true;
            before.loaded.close();
        }
        Slot slot = slots.get(number);
        boolean interrupted = random.nextInt(100) == 0;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            slot.loaded.predict();
        } catch (Exception e) {
            if (!slot.closed) {
                throw e;
            }
            closedMeanwhile.incrementAndGet();
        }
        assertEquals(interrupted, Thread.interrupted());
        ended.incrementAndGet();
        return null;
    }

    @Test
    void predict_poolsAndModelsComeAndGo_allAnswersAreRight() throws Exception {
        Torch.threads(1);
        List<Loader> loaders =
                List.of(
                        tfLite("chains"),
                        tfLite("blaze_face"),
                        torch("cnn"),
                        torch("attention"),
                        block(x -> x.add(1)),
                        block(
                                x ->
                                        x.getManager()
                                                .ones(new Shape(1 << 20))
                                                .sum()
                                                .mul(0)
                                                .add(x)
                                                .add(1)));
        AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(loaders.size());
        for (int i = 0; i < loaders.size(); i++) {
            slots.set(i, new Slot(loaders.get(i).load(2)));
        }
        Random random = new Random(1);
        for (int i = 0; i < POOLS; i++) {
            ExecutorService pool = Executors.newFixedThreadPool(1 + random.nextInt(MOST_CALLERS));
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int number = 0; number < PREDICTIONS / POOLS; number++) {
                Random own = new Random(random.nextLong());
                tasks.add(() -> predict(slots, loaders, own));
            }
            for (Future<Void> each : pool.invokeAll(tasks)) {
                Void unused = each.get();
            }
            pool.shutdown();
        }
        for (int i = 0; i < slots.length(); i++) {
            slots.get(i).loaded.close();
        }
        System.out.println(
                loads + " loads, " + closedMeanwhile + " predictions of models closed meanwhile");
        assertEquals(PREDICTIONS, ended.get());
        assertTrue(loads.get() > PREDICTIONS / RELOAD_EVERY / 2, loads + " loads");
        assertEquals(new Gate.Metric(0, 0), Gate.shared().metric());
        Torch.assertNoArenas();
    }
}
