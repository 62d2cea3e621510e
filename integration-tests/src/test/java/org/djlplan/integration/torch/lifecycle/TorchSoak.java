package org.djlplan.integration.torch.lifecycle;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.InsideTranslator;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.lifecycle.TorchSoakCase.Question;
import org.djlplan.memplan.PlannedTranslatorFactory;

/**
 * Many threads predict with many models at once, each with random options, while models are loaded
 * again. Other threads keep and close some outputs; some predictions fail. Every output is compared
 * with the stock engine's.
 */
final class TorchSoak {

    private static final int TENTHS = 10;
    private static final int MOST_RETAINED = 40;

    private final List<TorchSoakCase> cases; // each with a place of its own
    private final int threads;
    private final Function<Random, Map<String, ?>> options;
    private final int loadEvery;
    private final int predictions;
    private final long seed;
    private final List<Slot> slots = new ArrayList<>();
    private final ConcurrentLinkedQueue<Retained> retained = new ConcurrentLinkedQueue<>();
    private final AtomicInteger retainedNow = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicLong unplanned = new AtomicLong();
    private final ConcurrentLinkedQueue<String> problems = new ConcurrentLinkedQueue<>();
    private final List<Long> residentBytes = new ArrayList<>();

    /** A loaded model. It must not be closed during a prediction. */
    private static final class Slot {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final TorchSoakCase model;
        private ZooModel<NDList, NDList> loaded;
        private Translator<NDList, String> inside;
        private Translator<NDList, NDList> failing;

        Slot(TorchSoakCase model) {
            this.model = model;
        }
    }

    /** Outputs that a user keeps. */
    private record Retained(
            String name, NDManager manager, NDList outputs, List<Output> expected) {}

    /**
     * The counts and problems of a run.
     *
     * @param predictions number of outputs that were compared
     * @param failures number of expected failures
     * @param loads how often a model was loaded
     * @param unplanned number of predictions that ran outside of the arenas, or not as planned
     * @param problems wrong outputs and unexpected failures
     * @param residentBytes resident memory of the process after each tenth of the predictions
     */
    record Outcome(
            int predictions,
            int failures,
            int loads,
            long unplanned,
            List<String> problems,
            List<Long> residentBytes) {}

    /** Fails in post-processing. */
    private static final class FailingTranslator implements NoBatchifyTranslator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            return inputs;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            throw new IllegalStateException("as it should");
        }
    }

    /**
     * @param threads number of threads that predict
     * @param options makes the options of each loaded model
     * @param loadEvery one in this number of predictions first closes and reloads a model
     */
    TorchSoak(
            List<TorchSoakCase> cases,
            int threads,
            Function<Random, Map<String, ?>> options,
            int loadEvery,
            int predictions,
            long seed) {
        this.cases = cases;
        this.threads = threads;
        this.options = options;
        this.loadEvery = loadEvery;
        this.predictions = predictions;
        this.seed = seed;
    }

    /** Runs to the end and closes everything. */
    Outcome run() throws Exception {
        Random random = new Random(seed);
        for (TorchSoakCase each : cases) {
            Slot slot = new Slot(each);
            load(slot, random);
            slots.add(slot);
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                Random own = new Random(seed + 1 + t);
                tasks.add(() -> work(own));
            }
            for (Future<Void> task : pool.invokeAll(tasks)) {
                Void unused = task.get();
            }
        } finally {
            pool.shutdownNow();
            slots.forEach(this::close);
            // These outputs belong to models that are closed now.
            while (!retained.isEmpty()) {
                release();
            }
        }
        return new Outcome(
                done.get(),
                failures.get(),
                loads.get(),
                unplanned.get(),
                List.copyOf(problems),
                List.copyOf(residentBytes));
    }

    private Void work(Random random) throws Exception {
        Torch.threads(1);
        while (done.get() < predictions && problems.isEmpty()) {
            Slot slot = slots.get(random.nextInt(slots.size()));
            if (random.nextInt(loadEvery) == 0) {
                slot.lock.writeLock().lock();
                try {
                    close(slot);
                    load(slot, random);
                } finally {
                    slot.lock.writeLock().unlock();
                }
            }
            slot.lock.readLock().lock();
            try {
                predict(slot, random);
            } catch (Exception e) {
                problems.add(slot.model.name() + ": " + e);
            } finally {
                slot.lock.readLock().unlock();
            }
            if (retainedNow.get() > MOST_RETAINED || random.nextInt(8) == 0) {
                release();
            }
        }
        return null;
    }

    private void load(Slot slot, Random random) throws Exception {
        loads.incrementAndGet();
        slot.loaded = slot.model.load(options.apply(random));
        slot.inside =
                PlannedTranslatorFactory.wrap(new InsideTranslator())
                        .with("delegation.enabled", false)
                        .newInstance(NDList.class, String.class, slot.loaded, Map.of());
        slot.failing =
                PlannedTranslatorFactory.wrap(new FailingTranslator())
                        .with("delegation.enabled", false)
                        .newInstance(NDList.class, NDList.class, slot.loaded, Map.of());
    }

    private void close(Slot slot) {
        unplanned.addAndGet(Torch.report(slot.loaded).predictions().unplanned());
        slot.loaded.close();
    }

    private void predict(Slot slot, Random random) throws Exception {
        Question question =
                slot.model.questions().get(random.nextInt(slot.model.questions().size()));
        int chosen = random.nextInt(question.answers().size());
        List<Output> expected = question.answers().get(chosen);
        NDManager manager = NDManager.newBaseManager("PyTorch");
        NDList inputs = question.inputs().create(manager, chosen);
        switch (random.nextInt(8)) {
            case 0 -> fail(slot, inputs, random);
            case 1, 2 -> {
                try (Predictor<NDList, NDList> bare =
                        slot.loaded.newPredictor(new BareTranslator())) {
                    retainedNow.incrementAndGet();
                    retained.add(
                            new Retained(
                                    slot.model.name(), manager, bare.predict(inputs), expected));
                }
                return;
            }
            case 3, 4 -> {
                try (Predictor<NDList, NDList> own = slot.loaded.newPredictor()) {
                    compare(slot.model.name(), expected, Output.copyOf(own.predict(inputs)));
                }
            }
            default -> {
                try (Predictor<NDList, String> inside = slot.loaded.newPredictor(slot.inside)) {
                    compare(slot.model.name(), expected.toString(), inside.predict(inputs));
                }
            }
        }
        manager.close();
    }

    /** Makes the translator fail; some models fail before that, because inputs are missing. */
    private void fail(Slot slot, NDList inputs, Random random) {
        try (Predictor<NDList, NDList> failing = slot.loaded.newPredictor(slot.failing)) {
            NDList unused =
                    failing.predict(random.nextBoolean() ? inputs : new NDList(inputs.head()));
            problems.add(slot.model.name() + " did not fail");
        } catch (TranslateException e) {
            failures.incrementAndGet();
        }
    }

    private void release() {
        Retained oldest = retained.poll();
        if (oldest != null) {
            retainedNow.decrementAndGet();
            compare(oldest.name(), oldest.expected(), Output.copyOf(oldest.outputs()));
            oldest.manager().close();
        }
    }

    private void compare(String name, Object expected, Object actual) {
        if (!expected.equals(actual)) {
            problems.add("wrong output of " + name);
        }
        int count = done.incrementAndGet();
        if (count % (predictions / TENTHS) == 0 && count <= predictions) {
            sample();
        }
    }

    private void sample() {
        try {
            synchronized (residentBytes) {
                residentBytes.add(ProcessSize.residentBytes());
            }
        } catch (IOException e) {
            problems.add(e.toString());
        }
    }
}
