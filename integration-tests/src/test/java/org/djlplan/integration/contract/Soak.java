package org.djlplan.integration.contract;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.report.PlanReport;

/**
 * Many threads predict with many models at once, while models are closed and loaded with other
 * options. Threads keep some outputs for a while; some inputs are wrong; some callers are
 * interrupted; some loads fail. Every output is compared with the engine's without djl-plan.
 */
final class Soak {

    private static final int TENTHS = 10;
    private static final int SAMPLES = 1000;
    private static final int MOST_KEPT = 40;

    /** Seeds whose outputs are compared, for each model. */
    private static final int SEEDS = 16;

    private final List<Answers> answers = new ArrayList<>();
    private final Plan plan;
    private final AtomicReferenceArray<Slot> slots;
    private final ConcurrentLinkedQueue<Kept> kept = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<String> problems = new ConcurrentLinkedQueue<>();
    private final AtomicInteger keptNow = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicInteger failedLoads = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger closedMeanwhile = new AtomicInteger();
    private final AtomicInteger unplanned = new AtomicInteger();
    private final AtomicLongArray residentBytes = new AtomicLongArray(TENTHS);

    /**
     * The size of a run.
     *
     * @param slots how many models are loaded at once
     * @param loadEvery one in this number of predictions loads a model again instead
     * @param limit of its time
     * @param loader loads a model
     */
    record Plan(
            int threads,
            int slots,
            int loadEvery,
            int predictions,
            Duration limit,
            Loader loader) {}

    /** Loads models. */
    @FunctionalInterface
    interface Loader {

        /**
         * Loads a model with random options; it may try other loads before, which fail.
         *
         * @param failed is called for each of these
         */
        ZooModel<NDList, NDList> load(ModelCase model, Random random, Runnable failed)
                throws Exception;
    }

    /** A model, and the engine's outputs by seed. */
    private record Answers(ModelCase model, List<List<ByteBuffer>> bySeed) {}

    /** Outputs that an application keeps. */
    private record Kept(Path file, NDManager manager, NDList outputs, List<ByteBuffer> expected) {}

    private static final class Slot {
        private final Answers answers;
        private final ZooModel<NDList, NDList> loaded;
        private volatile boolean closed;

        Slot(Answers answers, ZooModel<NDList, NDList> loaded) {
            this.answers = answers;
            this.loaded = loaded;
        }
    }

    /**
     * The counts and problems of a run.
     *
     * @param predictions number of outputs that were compared
     * @param failedLoads number of loads that failed as they should
     * @param failures number of predictions with wrong inputs, which failed
     * @param closedMeanwhile number of predictions that failed because another thread had closed
     *     the model
     * @param unplanned number of predictions outside of the arenas
     * @param problems wrong outputs and unexpected failures
     * @param residentBytes the least resident memory of the process during each tenth of the
     *     predictions. Loads and Java's compilers need memory for a moment, so other values depend
     *     on chance; what is never freed adds to the least one, too
     */
    record Outcome(
            int predictions,
            int loads,
            int failedLoads,
            int failures,
            int closedMeanwhile,
            int unplanned,
            List<String> problems,
            long[] residentBytes) {}

    Soak(List<ModelCase> models, Plan plan) throws Exception {
        this.plan = plan;
        slots = new AtomicReferenceArray<>(plan.slots());
        for (ModelCase each : models) {
            answers.add(new Answers(each, each.stock(Math.max(SEEDS, each.inputSets().size()))));
        }
    }

    /** Runs to the end and closes everything. */
    Outcome run(long seed) throws Exception {
        Random random = new Random(seed);
        long end = System.nanoTime() + plan.limit().toNanos();
        for (int i = 0; i < slots.length(); i++) {
            slots.set(i, load(answers.get(i % answers.size()), random));
        }
        try {
            Threads.all(plan.threads(), thread -> work(new Random(seed + 1 + thread), end));
        } finally {
            for (int i = 0; i < slots.length(); i++) {
                close(slots.get(i));
            }
            // These outputs belong to models that are closed now.
            while (!kept.isEmpty()) {
                release();
            }
        }
        return new Outcome(
                done.get(),
                loads.get(),
                failedLoads.get(),
                failures.get(),
                closedMeanwhile.get(),
                unplanned.get(),
                List.copyOf(problems),
                IntStream.range(0, TENTHS).mapToLong(residentBytes::get).toArray());
    }

    private boolean work(Random random, long end) throws Exception {
        for (Answers each : answers) {
            each.model().engine().prepareThread();
        }
        while (done.get() < plan.predictions() && System.nanoTime() < end && problems.isEmpty()) {
            int place = random.nextInt(slots.length());
            if (random.nextInt(plan.loadEvery()) == 0) {
                Answers next = answers.get(random.nextInt(answers.size()));
                close(slots.getAndSet(place, load(next, random)));
            } else {
                predict(slots.get(place), random);
            }
            if (keptNow.get() > MOST_KEPT || random.nextInt(8) == 0) {
                release();
            }
        }
        return true;
    }

    private Slot load(Answers next, Random random) throws Exception {
        loads.incrementAndGet();
        return new Slot(
                next, plan.loader().load(next.model(), random, failedLoads::incrementAndGet));
    }

    private void close(Slot slot) {
        slot.closed = true;
        PlanReport.of(slot.loaded)
                .ifPresent(report -> unplanned.addAndGet((int) report.predictions().unplanned()));
        slot.loaded.close();
    }

    private void predict(Slot slot, Random random) {
        ModelCase model = slot.answers.model();
        int seed = random.nextInt(slot.answers.bySeed().size());
        List<ByteBuffer> expected = slot.answers.bySeed().get(seed);
        boolean interrupted = false;
        NDManager manager = model.engine().newManager();
        try (Predictor<NDList, NDList> predictor = slot.loaded.newPredictor()) {
            NDList inputs = model.inputs(manager, seed);
            if (random.nextInt(16) == 0) {
                fail(predictor, inputs);
                manager.close();
                return;
            }
            if (random.nextInt(100) == 0) {
                interrupted = true;
                Thread.currentThread().interrupt();
            }
            NDList outputs = predictor.predict(inputs);
            outputs.attach(manager);
            Kept each = new Kept(model.file(), manager, outputs, expected);
            if (random.nextInt(4) == 0) {
                keptNow.incrementAndGet();
                kept.add(each);
            } else {
                compare(each);
            }
        } catch (Exception e) {
            manager.close();
            if (slot.closed) {
                closedMeanwhile.incrementAndGet();
            } else {
                problems.add(model.file() + ": " + e);
            }
        } finally {
            if (Thread.interrupted() != interrupted && !slot.closed) {
                problems.add(model.file() + " changed the caller's interrupt status");
            }
        }
    }

    /** Predicts with too many inputs. */
    private void fail(Predictor<NDList, NDList> predictor, NDList inputs) {
        NDList tooMany = new NDList(inputs);
        tooMany.add(inputs.head());
        try {
            NDList unused = predictor.predict(tooMany);
            problems.add(inputs.size() + 1 + " inputs were taken");
        } catch (TranslateException | IllegalStateException e) {
            failures.incrementAndGet();
        }
    }

    private void release() {
        Kept oldest = kept.poll();
        if (oldest != null) {
            keptNow.decrementAndGet();
            compare(oldest);
        }
    }

    private void compare(Kept each) {
        if (!each.expected().equals(ModelCase.bytes(each.outputs()))) {
            problems.add("wrong output of " + each.file());
        }
        each.manager().close();
        int count = done.getAndIncrement();
        if (count % Math.max(1, plan.predictions() / SAMPLES) == 0 && count < plan.predictions()) {
            int tenth = (int) (1L * TENTHS * count / plan.predictions());
            try {
                long bytes = ProcessSize.residentBytes();
                residentBytes.accumulateAndGet(tenth, bytes, (a, b) -> a == 0 ? b : Math.min(a, b));
            } catch (IOException e) {
                problems.add(e.toString());
            }
        }
    }
}
