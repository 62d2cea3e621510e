package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.djlplan.cli.OutputDifference.Written;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.io.Closer;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Runs a model with one budget after another, in turns with the stock engine in another process.
 * Each budget gets three processes:
 *
 * <ol>
 *   <li>the first load, which slices the model if the budget requires it, and stores the result;
 *   <li>a load that finds the stored files. Its predictions are timed twice: warm, with the weights
 *       in the page cache; and cold, with the pages of the model's files dropped before each
 *       prediction (pages that are mapped at that moment stay);
 *   <li>if control groups can be created, a process in a group that is limited to the memory of the
 *       idle process, plus the budget, plus {@link #TOLERANCE} of the budget. The group is also
 *       charged for file pages.
 * </ol>
 *
 * <p>The stock engine's weights stay in memory. The JVM's optimizing compiler is off in all
 * processes, because the megabytes that it takes from time to time belong to the runtime, not to
 * the model.
 */
final class BudgetSweep {

    /** Fraction of a budget by which a process may exceed it. */
    static final double TOLERANCE = .05;

    /** The name of budgets that the sweep chose. */
    static final String LEAST = "least";

    /** Enough for all one-time work. */
    private static final int FIRST_PREDICTIONS = 3;

    private final RunOptions options;
    private final Optional<WeightIo> io;
    private final RunMode mode;
    private final Consumer<String> news;

    /**
     * @param io how weights are read; empty for the model's own options
     * @param mode how the model runs in budgets
     * @param news receives a description of each step
     */
    BudgetSweep(RunOptions options, Optional<WeightIo> io, RunMode mode, Consumer<String> news) {
        this.options = mode == RunMode.DELEGATED ? options.measuring() : options;
        this.mode = mode;
        this.io = io;
        this.news = news;
    }

    /**
     * The stock engine.
     *
     * @param peakAboveIdleBytes peak of the resident set above the idle process
     */
    record Stock(long peakAboveIdleBytes, double medianMillis) {}

    /**
     * A budget and its result.
     *
     * @param name the budget as written by the user
     * @param bytes the budget in bytes
     * @param outcome the measurements, or the reason why there are none
     */
    record Row(String name, long bytes, Outcome outcome) {

        /** Returns whether the process took clearly more than the budget. */
        boolean isExceeded() {
            return measured().stream()
                    .flatMapToLong(measured -> measured.highestBytes().stream())
                    .anyMatch(peak -> peak > bytes * (1 + TOLERANCE));
        }

        /** Returns the measurements. */
        Optional<Measured> measured() {
            return outcome instanceof Measured measured ? Optional.of(measured) : Optional.empty();
        }
    }

    /** The result of a budget. */
    sealed interface Outcome {}

    /**
     * Result: the model does not run in this budget.
     *
     * @param leastBytes a lower bound of the smallest budget in which the model runs, according to
     *     the model; empty if it cannot run for another reason
     */
    record Refused(String why, OptionalLong leastBytes) implements Outcome {}

    /**
     * Result: the model ran in this budget.
     *
     * @param firstLoadPeakAboveIdleBytes peak of the resident set above the idle process, for the
     *     first load
     * @param peakAboveIdleBytes the same for a later load
     * @param warm latency relative to stock's, with the weights in the page cache
     * @param cold latency relative to stock's, with the weights only on disk
     * @param group the run in a control group, which starts with the weights only on disk; empty if
     *     no group can be created
     * @param difference of the outputs from the reference outputs
     * @param report the model's own report; empty if it has no budget
     * @param weights predicted times at which weights are in memory; empty if all are in memory all
     *     the time
     * @param unplannedReason why the model ran as stock; empty if it did not
     */
    record Measured(
            OptionalLong firstLoadPeakAboveIdleBytes,
            OptionalLong peakAboveIdleBytes,
            MedianRatio warm,
            MedianRatio cold,
            Optional<Grouped> group,
            OutputDifference difference,
            Optional<BudgetReport> report,
            Optional<ResidentWeights> weights,
            Optional<String> unplannedReason)
            implements Outcome {

        /** Returns the highest of the peaks. */
        OptionalLong highestBytes() {
            return firstLoadPeakAboveIdleBytes.isPresent() && peakAboveIdleBytes.isPresent()
                    ? OptionalLong.of(
                            Math.max(
                                    firstLoadPeakAboveIdleBytes.getAsLong(),
                                    peakAboveIdleBytes.getAsLong()))
                    : OptionalLong.empty();
        }
    }

    /**
     * A run in a limited control group.
     *
     * @param limitAboveIdleBytes the group's limit in addition to the memory of the idle process
     * @param killed whether the process needed more
     * @param ratio latency relative to stock's, which runs without a limit; empty if the process
     *     was killed
     */
    record Grouped(long limitAboveIdleBytes, boolean killed, Optional<MedianRatio> ratio) {}

    /** All measurements, in the order of the requested budgets. */
    record Result(Stock stock, Optional<OutputDifference> lost, List<Row> rows) {

        Result {
            rows = ImmutableList.copyOf(rows);
        }

        /**
         * Returns the smallest budget in which the model runs, according to its own reports and to
         * the peaks: a report is a lower bound. Budgets at or below a size that failed, or was
         * exceeded, are not returned.
         */
        OptionalLong leastBytes() {
            long tooSmall =
                    rows.stream()
                            .filter(row -> row.outcome() instanceof Refused || row.isExceeded())
                            .mapToLong(Row::bytes)
                            .max()
                            .orElse(0);
            return rows.stream()
                    .flatMapToLong(row -> leastBytes(row).stream())
                    .filter(bytes -> bytes > tooSmall)
                    .min();
        }

        /** Returns whether the model ran in a budget of so many bytes, and kept it. */
        boolean isHeld(long bytes) {
            return rows.stream()
                    .anyMatch(
                            row ->
                                    row.bytes() == bytes
                                            && row.measured().isPresent()
                                            && !row.isExceeded());
        }

        private static OptionalLong leastBytes(Row row) {
            if (row.outcome() instanceof Refused refused) {
                return refused.leastBytes();
            }
            if (row.isExceeded()) {
                return row.measured().orElseThrow().highestBytes();
            }
            return row.measured().stream()
                    .flatMap(measured -> measured.report().stream())
                    .mapToLong(BudgetReport::leastBudgetBytes)
                    .min();
        }
    }

    /**
     * A budget as users write it: the value of {@code memplan.budget}, or a fraction of stock's
     * peak.
     *
     * @param name the budget as written
     */
    record Wanted(String name, Budget budget) {

        /**
         * Parses a budget.
         *
         * @throws IllegalArgumentException if the text is not a budget; the message lists the valid
         *     forms
         */
        static Wanted parse(String text) {
            String[] parts = text.split("/", -1);
            if (parts.length == 2) {
                try {
                    double share = Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
                    return new Wanted(text, new Budget.ShareOfStock(share));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException(explain(text), e);
                }
            }
            return Budget.of(text)
                    .filter(b -> b instanceof Budget.Bytes || b instanceof Budget.ShareOfStock)
                    .map(budget -> new Wanted(text, budget))
                    .orElseThrow(() -> new IllegalArgumentException(explain(text)));
        }

        private static String explain(String text) {
            return "no budget: " + text + "; such as 1/8, 12.5% or 64MB is one";
        }

        /** Returns the bytes of the budget, given stock's measured memory. */
        long bytes(long stockBytes) {
            if (budget instanceof Budget.Bytes given) {
                return given.bytes();
            }
            checkArgument(budget instanceof Budget.ShareOfStock, "%s", budget);
            return Math.max(1, (long) (((Budget.ShareOfStock) budget).share() * stockBytes));
        }
    }

    /**
     * Runs the model with each budget, and then with the smallest budget in which it can run
     * according to its reports.
     *
     * @throws Failure if the stock engine cannot run it
     */
    Result run(List<Wanted> budgets) throws IOException {
        try (Closer closer = Closer.create()) {
            Path folder = closer.register(ScratchFolder.create("djlplan-budget")).path();
            news.accept("stock");
            WorkerProcess worker =
                    worker(WorkerProcess.Contestant.of(RunMode.STOCK), options, List.of());
            closer.register(worker::close);
            worker.awaitLoaded();
            Written outputs = worker.writeOutputs(folder.resolve("stock"));
            worker.warmUp();
            long[] nanos = worker.time(options.effort().iterations());
            RunFigures figures = worker.figures();
            long peakBytes =
                    peak(figures)
                            .orElseThrow(
                                    () -> new Failure("peaks of memory cannot be measured here"));
            Stock alone = new Stock(peakBytes, Quantiles.median().compute(nanos) / 1e6);
            Partner stock =
                    new Partner(worker, new ReferenceOutputs(options, folder, outputs), folder);
            List<Row> rows = new ArrayList<>();
            for (Wanted wanted : budgets) {
                rows.add(row(wanted.name(), wanted.bytes(peakBytes), stock));
            }
            // The reported minimum is a lower bound, so try a limited number of times.
            for (int i = 0; i < budgets.size() + 1; i++) {
                OptionalLong least = stock.result(alone, rows).leastBytes();
                if (least.isEmpty()
                        || rows.stream().anyMatch(row -> row.bytes() == least.getAsLong())) {
                    break;
                }
                rows.add(row(LEAST, least.getAsLong(), stock));
            }
            return stock.result(alone, rows);
        }
    }

    private Row row(String name, long bytes, Partner stock) throws IOException {
        String reading = io.map(mode -> ":" + mode).orElse("");
        RunOptions inside = options.with(OptionKey.BUDGET, bytes + "B" + reading);
        String title = name + " (" + Figures.megabytes(bytes) + " MB)";
        try {
            news.accept(title + ": slicing, first load");
            OptionalLong firstPeakBytes = firstLoad(inside);
            news.accept(title + ": in a control group");
            Optional<Grouped> group = grouped(inside, bytes, stock);
            news.accept(title + ": in turns with stock");
            return new Row(name, bytes, measured(inside, firstPeakBytes, group, stock));
        } catch (Failure.TooSmall e) {
            return new Row(
                    name, bytes, new Refused(e.getMessage(), OptionalLong.of(e.leastBytes())));
        } catch (Failure e) {
            return new Row(name, bytes, new Refused(Failure.describe(e), OptionalLong.empty()));
        }
    }

    private OptionalLong firstLoad(RunOptions inside) {
        try (WorkerProcess worker =
                worker(new WorkerProcess.Contestant("first", mode, Map.of()), inside, List.of())) {
            worker.awaitLoaded();
            long[] unused = worker.time(FIRST_PREDICTIONS);
            OptionalLong peakBytes = peak(worker.figures());
            worker.finish();
            return peakBytes;
        }
    }

    private Measured measured(
            RunOptions inside, OptionalLong firstPeakBytes, Optional<Grouped> group, Partner stock)
            throws IOException {
        try (WorkerProcess worker = worker(WorkerProcess.Contestant.of(mode), inside, List.of())) {
            worker.awaitLoaded();
            OutputDifference difference = stock.difference(worker);
            worker.warmUp();
            MedianRatio warm = stock.race(worker, () -> {});
            Optional<BudgetReport> report = worker.figures().budget();
            MedianRatio cold = stock.race(worker, () -> ModelPages.drop(options.model()));
            RunFigures figures = worker.figures();
            return new Measured(
                    firstPeakBytes,
                    peak(figures),
                    warm,
                    cold,
                    group,
                    difference,
                    report,
                    worker.residentWeights(),
                    figures.unplannedReason());
        }
    }

    private Optional<Grouped> grouped(RunOptions inside, long bytes, Partner stock)
            throws IOException {
        Optional<MemoryGroup> made = MemoryGroup.make();
        if (made.isEmpty()) {
            return Optional.empty();
        }
        long limitBytes = (long) (bytes * (1 + TOLERANCE));
        try (MemoryGroup group = made.get();
                WorkerProcess worker =
                        worker(
                                new WorkerProcess.Contestant("grouped", mode, Map.of()),
                                inside,
                                group.starter())) {
            worker.awaitIdle();
            ModelPages.drop(options.model());
            group.limit(group.usedBytes() - group.reclaimableBytes() + limitBytes);
            worker.load();
            worker.warmUp();
            MedianRatio ratio = stock.race(worker, () -> {});
            return Optional.of(new Grouped(limitBytes, false, Optional.of(ratio)));
        } catch (Failure.OutOfMemory e) {
            return Optional.of(new Grouped(limitBytes, true, Optional.empty()));
        }
    }

    private static OptionalLong peak(RunFigures figures) {
        return figures.get(Figure.PEAK_ABOVE_IDLE).isPresent()
                ? OptionalLong.of((long) figures.get(Figure.PEAK_ABOVE_IDLE).getAsDouble())
                : OptionalLong.empty();
    }

    private WorkerProcess worker(
            WorkerProcess.Contestant contestant, RunOptions of, List<String> starter) {
        return WorkerProcess.start(contestant, of, news, starter, false);
    }

    /** The stock engine's process, with which other processes take turns. */
    private final class Partner {

        private final WorkerProcess worker;
        private final ReferenceOutputs reference;
        private final Path folder;

        Partner(WorkerProcess worker, ReferenceOutputs reference, Path folder) {
            this.worker = worker;
            this.reference = reference;
            this.folder = folder;
        }

        Result result(Stock alone, List<Row> rows) {
            return new Result(alone, reference.lost(), rows);
        }

        OutputDifference difference(WorkerProcess other) throws IOException {
            Written theirs = other.writeOutputs(folder.resolve("other"));
            OutputDifference difference = reference.difference(theirs);
            return !difference.identical() && reference.check()
                    ? reference.difference(theirs)
                    : difference;
        }

        /** Times pairs of predictions; the order in each pair alternates. */
        MedianRatio race(WorkerProcess other, Preparation before) throws IOException {
            int pairs = options.effort().iterations();
            long[] mine = new long[pairs];
            long[] theirs = new long[pairs];
            for (int i = 0; i < pairs; i++) {
                if (i % 2 == 0) {
                    mine[i] = worker.time(1)[0];
                }
                before.run();
                theirs[i] = other.time(1)[0];
                if (i % 2 != 0) {
                    mine[i] = worker.time(1)[0];
                }
            }
            return MedianRatio.of(theirs, mine);
        }
    }

    /** A step before each prediction of a timed pair. */
    @FunctionalInterface
    private interface Preparation {
        void run() throws IOException;
    }
}
