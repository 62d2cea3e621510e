package org.djlplan.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.study.Strategies;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.search.SearchLimits;
import org.djlplan.study.search.SearchResult;
import org.djlplan.study.search.Technique;
import org.djlplan.study.shared.EndToEnd;
import org.djlplan.study.shared.SharedObjectsPlan;
import org.djlplan.study.shared.SharedObjectsStrategy;
import org.djlplan.study.shared.SharedObjectsValidator;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.collect.Multimaps;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.collect.Streams;
import org.djlplan.thirdparty.guava.math.PairedStatsAccumulator;
import org.djlplan.thirdparty.guava.math.Quantiles;

/** Plans problems with every strategy that supports them and measures the time. */
final class PlannerBench {

    /** A strategy is not run again once its runs took longer than this in total. */
    private static final Duration ENOUGH = Duration.ofSeconds(10);

    /**
     * Curves have the largest problems only: smaller ones take microseconds, which fixed costs
     * dominate.
     */
    private static final int MOST_POINTS = 3;

    /**
     * A problem with a name.
     *
     * @param name name of the file, or of the kind of generated problems
     * @param problem to plan
     */
    record Instance(String name, PlanningProblem problem) {}

    /**
     * Result of one strategy on one problem.
     *
     * @param instance name of the problem
     * @param units number of units
     * @param strategy name of the strategy
     * @param layout {@link PlanRun#OFFSETS} or {@link PlanRun#SHARED_OBJECTS}
     * @param totalBytes size of the arena, or of all buffers together
     * @param percentAboveBound difference from the lower bound of the layout
     * @param medianMillis median time
     * @param runs number of runs for the median; fewer than requested if a run takes seconds
     * @param valid whether the independent validator found no error
     */
    record Row(
            String instance,
            int units,
            String strategy,
            String layout,
            long totalBytes,
            double percentAboveBound,
            double medianMillis,
            int runs,
            boolean valid) {}

    /**
     * How a strategy's time grows with the number n of units of generated problems.
     *
     * @param instance kind of the problems
     * @param strategy name of the strategy
     * @param fromUnits units of the curve's smallest problem
     * @param toUnits units of its largest problem
     * @param exponent slope of log(time) over log(n): 1 for linear, 2 for quadratic; a factor of
     *     log n adds about 0.1
     */
    record CostCurve(
            String instance, String strategy, int fromUnits, int toUnits, double exponent) {

        /** Returns the curve of every kind and strategy with at least two sizes. */
        static List<CostCurve> of(List<Row> rows) {
            return Multimaps.index(rows, row -> List.of(row.instance(), row.strategy()))
                    .asMap()
                    .values()
                    .stream()
                    .map(List::copyOf)
                    .filter(points -> points.size() > 1)
                    .map(CostCurve::ofSeries)
                    .toList();
        }

        private static CostCurve ofSeries(List<Row> all) {
            List<Row> points = all.subList(Math.max(0, all.size() - MOST_POINTS), all.size());
            PairedStatsAccumulator logarithms = new PairedStatsAccumulator();
            points.forEach(
                    row -> logarithms.add(Math.log(row.units()), Math.log(row.medianMillis())));
            Row first = points.get(0);
            return new CostCurve(
                    first.instance(),
                    first.strategy(),
                    first.units(),
                    points.get(points.size() - 1).units(),
                    logarithms.leastSquaresFit().slope());
        }
    }

    /**
     * One search for a plan that fits.
     *
     * @param instance name of the problem
     * @param without the technique that was switched off, or {@code none}
     * @param seconds duration
     * @param nodes number of examined partial plans
     * @param totalBytes size of the arena
     * @param fits whether the arena is within the capacity
     */
    record SearchRow(
            String instance,
            String without,
            double seconds,
            long nodes,
            long totalBytes,
            boolean fits) {}

    private final int repeat;
    private final Duration warmUp;

    /**
     * @param repeat how often to plan after the warm-up, at least once
     * @param warmUp how long to plan before that, while code is compiled
     */
    PlannerBench(int repeat, Duration warmUp) {
        this.repeat = repeat;
        this.warmUp = warmUp;
    }

    /**
     * Returns one row per strategy that supports the problem, strategies for offsets first.
     * Strategies that lay shared objects end to end are left out, because their plans are those of
     * shared objects.
     */
    List<Row> rows(Instance instance) {
        PlanningProblem problem = instance.problem();
        Map<String, OffsetStrategy> offsets = new LinkedHashMap<>();
        Streams.concat(
                        Strategies.all().stream(),
                        ParallelPlanner.strategies().stream(),
                        Stream.of(new ExactSearch()))
                .filter(each -> each.admits(problem) && !(each instanceof EndToEnd))
                .forEach(each -> offsets.putIfAbsent(each.name(), each));
        List<Row> rows = new ArrayList<>();
        for (OffsetStrategy each : offsets.values()) {
            Timed<OffsetPlan> timed = time(() -> each.plan(problem));
            OffsetPlan plan = timed.plan();
            rows.add(
                    row(
                            instance,
                            each.name(),
                            PlanRun.OFFSETS,
                            plan.totalBytes(),
                            LowerBounds.offsetBytes(problem.units()),
                            timed.nanos(),
                            PlanValidator.violations(plan, 1).isEmpty()));
        }
        long sharedBytes = LowerBounds.sharedObjectBytes(problem.units());
        for (SharedObjectsStrategy each : SharedStrategies.all()) {
            if (each.admits(problem)) {
                Timed<SharedObjectsPlan> timed = time(() -> each.plan(problem));
                SharedObjectsPlan plan = timed.plan();
                rows.add(
                        row(
                                instance,
                                each.name(),
                                PlanRun.SHARED_OBJECTS,
                                plan.totalBytes(),
                                sharedBytes,
                                timed.nanos(),
                                SharedObjectsValidator.violations(plan).isEmpty()));
            }
        }
        return rows;
    }

    private static Row row(
            Instance instance,
            String strategy,
            String layout,
            long bytes,
            long boundBytes,
            List<Long> nanos,
            boolean valid) {
        return new Row(
                instance.name(),
                instance.problem().units().size(),
                strategy,
                layout,
                bytes,
                100.0 * (bytes - boundBytes) / boundBytes,
                Quantiles.median().compute(nanos) / 1e6,
                nanos.size(),
                valid);
    }

    private record Timed<T>(T plan, List<Long> nanos) {}

    private <T> Timed<T> time(Supplier<T> planner) {
        Stopwatch all = Stopwatch.createStarted();
        T plan = planner.get();
        List<Long> nanos = new ArrayList<>(List.of(all.elapsed(TimeUnit.NANOSECONDS)));
        if (all.elapsed().compareTo(ENOUGH) < 0) {
            while (all.elapsed().compareTo(warmUp) < 0) {
                plan = planner.get();
            }
            nanos.clear();
            do {
                Stopwatch one = Stopwatch.createStarted();
                plan = planner.get();
                nanos.add(one.elapsed(TimeUnit.NANOSECONDS));
            } while (nanos.size() < repeat && all.elapsed().compareTo(ENOUGH) < 0);
        }
        return new Timed<>(plan, nanos);
    }

    /**
     * Searches for a plan that fits, with all techniques and with each switched off, after a
     * warm-up.
     */
    static List<SearchRow> search(Instance instance, SearchLimits limits, long capacityBytes) {
        SearchResult unused = new ExactSearch(limits).search(instance.problem());
        List<SearchRow> rows = new ArrayList<>();
        for (Set<Technique> off :
                Iterables.concat(
                        List.of(Set.<Technique>of()),
                        Iterables.transform(Technique.ALL, Set::of))) {
            Stopwatch watch = Stopwatch.createStarted();
            SearchResult result =
                    new ExactSearch(limits, Sets.difference(Technique.ALL, off))
                            .search(instance.problem());
            long bytes = result.plan().totalBytes();
            rows.add(
                    new SearchRow(
                            instance.name(),
                            off.stream()
                                    .map(each -> Ascii.toLowerCase(each.name()).replace('_', '-'))
                                    .findFirst()
                                    .orElse("none"),
                            watch.elapsed(TimeUnit.NANOSECONDS) / 1e9,
                            result.nodes(),
                            bytes,
                            bytes <= capacityBytes));
        }
        return rows;
    }
}
