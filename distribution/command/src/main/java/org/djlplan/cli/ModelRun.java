package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import ai.djl.engine.Engine;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.cli.OutputDifference.Written.Part;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.djlplan.thirdparty.guava.hash.Hasher;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * One model that runs in one mode in this process, step by step: load, warm up, write outputs,
 * time.
 */
final class ModelRun implements AutoCloseable {

    /** Number of inputs for which outputs are written, with the seeds seed, seed + 1, …. */
    static final int OUTPUT_SEEDS = 5;

    /**
     * Pause in which the JVM finishes compiling, so that compilation does not affect the model's
     * figures.
     */
    private static final long SETTLE_MILLIS = 200;

    private final RunOptions options;
    private final ImmutableList<ModelInput> inputs;
    private final Map<Figure, Double> values = new EnumMap<>(Figure.class);
    private final RunMode mode;
    private final ResidentSet residentSet;

    /** One runner for each predicting thread; empty before the model is loaded. */
    private final List<Runner> runners = new ArrayList<>();

    private long[] nanos = {};
    private long pageFaults;
    private String outputSha256 = "";

    /**
     * Initializes the engine and rehearses with a small model.
     *
     * @throws Failure if the engine cannot be loaded
     */
    ModelRun(RunOptions options, RunMode mode) throws IOException {
        this.options = options;
        this.mode = mode;
        options.engine().load();
        Rehearsal.run(options, mode);
        inputs = ModelInput.allocate(options.inputs());
        settle();
        residentSet = ResidentSet.ofIdleProcess();
    }

    /**
     * Loads the model.
     *
     * @throws Failure if loading fails
     */
    void load() {
        long start = System.nanoTime();
        runners.add(Runner.load(options, mode, inputs));
        values.put(Figure.LOAD_MILLIS, (System.nanoTime() - start) / 1e6);
        residentSet.recordLoaded();
    }

    /** Runs untimed predictions. */
    void warmUp() {
        fill(options.effort().seed());
        for (int i = 0; i < options.effort().warmup(); i++) {
            runner().run();
        }
    }

    private Runner runner() {
        checkState(!runners.isEmpty(), "no model is loaded");
        return runners.get(0);
    }

    /**
     * Runs predictions of the first input on several threads at once.
     *
     * @param threads number of threads
     * @param count number of predictions per thread
     */
    void runAtOnce(int threads, int count) throws InterruptedException {
        fill(options.effort().seed());
        while (runners.size() < threads) {
            runners.add(runner().another(options, mode, inputs));
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (Runner each : runners.subList(0, threads)) {
                tasks.add(
                        () -> {
                            for (int i = 0; i < count; i++) {
                                each.run();
                            }
                            return null;
                        });
            }
            for (Future<Void> task : pool.invokeAll(tasks)) {
                Void unused = task.get();
            }
        } catch (ExecutionException e) {
            throw new Failure("a prediction beside others failed", e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    /**
     * Writes all outputs of {@link #OUTPUT_SEEDS} inputs to a file, each before the next prediction
     * runs.
     *
     * @return type and bytes of every output
     */
    List<Part> writeOutputs(Path file) throws IOException {
        try (OutputFile out = new OutputFile(file)) {
            for (int i = 0; i < OUTPUT_SEEDS; i++) {
                fill(options.effort().seed() + i);
                runner().run(out);
            }
            outputSha256 = out.sha256();
            return out.parts();
        }
    }

    /**
     * Times {@code count} more predictions of the first input; returns the duration of each in
     * nanoseconds.
     */
    long[] time(int count) {
        fill(options.effort().seed());
        long[] times = new long[count];
        ProcessMemory memory = new ProcessMemory();
        OptionalLong before = memory.minorFaults();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            runner().run();
            times[i] = System.nanoTime() - start;
        }
        OptionalLong after = memory.minorFaults();
        nanos = Longs.concat(nanos, times);
        if (before.isPresent() && after.isPresent()) {
            pageFaults += after.getAsLong() - before.getAsLong();
            values.put(Figure.PAGE_FAULTS, (double) pageFaults / nanos.length);
        }
        return times;
    }

    /** Returns the allocations of one more prediction; empty if they cannot be planned. */
    Optional<List<UsageRecord>> recordedAllocations() {
        return runner().placedAllocations().map(placed -> placed.plan().problem().records());
    }

    /**
     * Runs one more prediction of a PyTorch model; returns its allocations in order, each with its
     * operator and shape.
     *
     * @throws Failure if operators are unknown
     */
    List<OperatorNames.Named> namedAllocations() {
        Optional<String> refused =
                OperatorNames.begin(Engine.getEngine(EngineKind.PYTORCH.engineName()).getVersion());
        if (refused.isPresent()) {
            throw new Failure(refused.get());
        }
        try {
            runner().run();
        } finally {
            OperatorNames.end();
        }
        return OperatorNames.noted();
    }

    /** Returns which weights are in memory at which time; empty if all are always in memory. */
    Optional<ResidentWeights> residentWeights() {
        return runner().residentWeights();
    }

    /** Returns the plan report, or empty if the model was loaded without a plan. */
    Optional<PlanReport> report() {
        return runner().report();
    }

    /** Returns by how many bytes the process has grown since before the model was loaded. */
    OptionalLong grownBytes() {
        return residentSet.grownBytes();
    }

    /**
     * Returns the figures, including latencies if predictions were timed.
     *
     * @param stockArena whether to add the size of the stock engine's arena, for which the model is
     *     opened once more: peaks of later figures would include that
     */
    RunFigures figures(boolean stockArena) {
        residentSet.peaks().ifPresent(this::notePeaks);
        if (nanos.length > 0) {
            Map<Integer, Double> times = Quantiles.percentiles().indexes(50, 95, 99).compute(nanos);
            values.put(Figure.MEDIAN_MILLIS, times.get(50) / 1e6);
            values.put(Figure.P95_MILLIS, times.get(95) / 1e6);
            values.put(Figure.P99_MILLIS, times.get(99) / 1e6);
        }
        Optional<PlanReport> report = report();
        report.filter(PlanReport::planned).ifPresent(this::notePlan);
        if (stockArena) {
            PlannedLoading.stockArenaBytes(options)
                    .ifPresent(bytes -> values.put(Figure.STOCK_ARENA, (double) bytes));
        }
        return new RunFigures(
                options.modelName(),
                options.engine().engineName(),
                Engine.getDjlVersion(),
                options.threads(),
                values,
                outputSha256,
                report.flatMap(PlanReport::unplannedReason),
                report.flatMap(PlanReport::delegation),
                report.flatMap(PlanReport::budget));
    }

    @Override
    public void close() {
        Lists.reverse(runners).forEach(Runner::close);
    }

    private void notePeaks(ResidentSet.Peaks peaks) {
        values.put(Figure.PEAK, (double) peaks.bytes());
        values.put(Figure.PEAK_ABOVE_IDLE, (double) peaks.aboveIdleBytes());
        values.put(Figure.PEAK_ABOVE_LOADED, (double) peaks.aboveLoadedBytes());
    }

    private void notePlan(PlanReport report) {
        values.put(Figure.ARENA, (double) report.plan().arenaBytes());
        values.put(Figure.INPUT_OUTPUT, (double) report.plan().inputOutputBytes());
        values.put(Figure.LOWER_BOUND, (double) report.plan().lowerBoundBytes());
        values.put(Figure.NAIVE, (double) report.plan().naiveBytes());
        values.put(Figure.UNPLANNED, (double) report.predictions().unplanned());
        report.delegation()
                .ifPresent(
                        delegation ->
                                values.put(
                                        Figure.DELEGATED,
                                        // All predictions of a run have the same shapes.
                                        delegation.otherShapes().startsWith("CPU kernels")
                                                ? 0.0
                                                : delegation.delegatedOperators()));
    }

    private void fill(long seed) {
        Random random = new Random(seed);
        inputs.forEach(input -> input.fill(random));
    }

    private static void settle() {
        System.gc();
        try {
            Thread.sleep(SETTLE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes outputs into a file one after another and hashes their bytes. */
    static final class OutputFile implements Runner.OutputSink, AutoCloseable {

        /** Small pieces, so that the copies do not affect the memory figures. */
        private static final int PIECE_BYTES = 8192;

        private final OutputStream out;
        private final Hasher hasher = Hashing.sha256().newHasher();
        private final List<Part> parts = new ArrayList<>();

        OutputFile(Path file) throws IOException {
            out = new BufferedOutputStream(Files.newOutputStream(file), PIECE_BYTES);
        }

        @Override
        public void accept(String type, ByteBuffer values) {
            ByteBuffer all = values.duplicate();
            all.rewind();
            parts.add(new Part(type, all.remaining()));
            byte[] piece = new byte[PIECE_BYTES];
            try {
                while (all.hasRemaining()) {
                    int count = Math.min(piece.length, all.remaining());
                    all.get(piece, 0, count);
                    hasher.putBytes(piece, 0, count);
                    out.write(piece, 0, count);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("cannot write outputs", e);
            }
        }

        /** Returns type and bytes of every output so far. */
        List<Part> parts() {
            return List.copyOf(parts);
        }

        /** Returns the SHA-256 of all outputs in hexadecimal; to be called once, at the end. */
        String sha256() {
            return hasher.hash().toString();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
