package org.djlplan.integration.tflite.lifecycle;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
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
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.tflite.lifecycle.SoakCase.SoakModel;
import org.djlplan.memplan.report.PlanReport;

/**
 * Many threads predict with many models at once, each with random options, while other threads
 * close and reload the models. Every output is compared with the stock engine's.
 */
final class Soak {

    private static final int THREADS = 8;
    private static final int SLOTS = 6;
    private static final int TENTHS = 10;

    /** One in this number of predictions reloads a model instead. */
    private static final int LOAD_EVERY = 200;

    private final List<SoakModel> models;
    private final boolean unplannedToo;
    private final int predictions;
    private final long seed;
    private final AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SLOTS);
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicInteger closedMeanwhile = new AtomicInteger();
    private final AtomicInteger unplanned = new AtomicInteger();
    private final ConcurrentLinkedQueue<String> problems = new ConcurrentLinkedQueue<>();
    private final long[] residentBytes = new long[TENTHS];

    /** A loaded model; planned if it has options. */
    private static final class Slot {
        private final SoakModel model;
        private final Map<String, ?> options;
        private final ZooModel<NDList, NDList> loaded;
        private volatile boolean closed;

        Slot(SoakModel model, Map<String, ?> options) throws Exception {
            this.model = model;
            this.options = options;
            loaded =
                    options.isEmpty()
                            ? Planned.loadPlain(model.file(), model.threads())
                            : Planned.loadDirectly(model.file(), options);
        }
    }

    /**
     * The counts and problems of a run.
     *
     * @param predictions number of outputs that were compared
     * @param loads how often a model was loaded
     * @param closedMeanwhile number of predictions that failed because another thread had closed
     *     the model
     * @param unplanned number of predictions outside of the shared arenas, which some options
     *     request
     * @param problems wrong outputs and unexpected failures
     * @param residentBytes resident memory of the process after each tenth of the predictions
     */
    record Outcome(
            int predictions,
            int loads,
            int closedMeanwhile,
            int unplanned,
            List<String> problems,
            List<Long> residentBytes) {}

    /**
     * @param unplannedToo whether some models are left to the engine
     */
    Soak(List<SoakModel> models, boolean unplannedToo, int predictions, long seed) {
        this.models = models;
        this.unplannedToo = unplannedToo;
        this.predictions = predictions;
        this.seed = seed;
    }

    /** Runs to the end and closes everything. */
    Outcome run() throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < SLOTS; i++) {
            slots.set(i, load(random));
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Random own = new Random(seed + 1 + t);
                tasks.add(() -> work(own));
            }
            for (Future<Void> task : threads.invokeAll(tasks)) {
                Void unused = task.get();
            }
        } finally {
            threads.shutdownNow();
            for (int i = 0; i < SLOTS; i++) {
                close(slots.get(i));
            }
        }
        List<Long> resident = new ArrayList<>();
        for (long bytes : residentBytes) {
            resident.add(bytes);
        }
        return new Outcome(
                done.get(),
                loads.get(),
                closedMeanwhile.get(),
                unplanned.get(),
                List.copyOf(problems),
                resident);
    }

    private Void work(Random random) throws Exception {
        while (done.get() < predictions && problems.isEmpty()) {
            int place = random.nextInt(SLOTS);
            if (random.nextInt(LOAD_EVERY) == 0) {
                close(slots.getAndSet(place, load(random)));
            } else {
                predict(slots.get(place), random);
            }
        }
        return null;
    }

    private Slot load(Random random) throws Exception {
        SoakModel model = models.get(random.nextInt(models.size()));
        loads.incrementAndGet();
        if (unplannedToo && random.nextInt(3) == 0) {
            return new Slot(model, Map.of());
        }
        return new Slot(
                model,
                Map.of(
                        "memplan.threads",
                        model.threads(),
                        "memplan.workers",
                        1 + random.nextInt(4)));
    }

    private void close(Slot slot) {
        slot.closed = true;
        if (!slot.options.isEmpty()) {
            PlanReport report = PlanReport.of(slot.loaded).orElseThrow();
            unplanned.addAndGet((int) report.predictions().unplanned());
        }
        slot.loaded.close();
    }

    private void predict(Slot slot, Random random) {
        SoakCase questions = slot.model.cases().get(random.nextInt(slot.model.cases().size()));
        int question = random.nextInt(questions.inputs().size());
        try (NDManager own = NDManager.newBaseManager("TFLite");
                Predictor<NDList, NDList> predictor = slot.loaded.newPredictor()) {
            String hash =
                    SoakCase.hash(
                            Planned.predict(
                                    predictor,
                                    own,
                                    questions.inputs().get(question),
                                    questions.shapes()));
            if (!hash.equals(questions.hashes().get(question))) {
                problems.add("wrong output of " + slot.model.file() + " with " + slot.options);
            }
            int count = done.incrementAndGet();
            if (count % (predictions / TENTHS) == 0 && count <= predictions) {
                sample(count / (predictions / TENTHS) - 1);
            }
        } catch (Exception e) {
            if (slot.closed) {
                closedMeanwhile.incrementAndGet();
            } else {
                problems.add(slot.model.file() + " with " + slot.options + ": " + e);
            }
        }
    }

    private void sample(int tenth) throws IOException {
        residentBytes[tenth] = ProcessSize.residentBytes();
    }
}
