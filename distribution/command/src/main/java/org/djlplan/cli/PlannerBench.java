package org.djlplan.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.Strategies;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.Streams;
import org.djlplan.thirdparty.guava.math.Quantiles;

/** Plans problems with every strategy that supports them and measures the time. */
final class PlannerBench {

    /** A strategy is not run again once its runs took longer than this in total. */
    private static final Duration ENOUGH = Duration.ofSeconds(10);

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

    /** Returns one row per strategy that supports the problem, strategies for offsets first. */
    List<Row> rows(Instance instance) {
        Map<String, OffsetStrategy> offsets = new LinkedHashMap<>();
        Streams.concat(
                        Strategies.offsets().stream(),
                        ParallelPlanner.strategies().stream(),
                        Stream.of(ExactSearch.STRATEGY))
                .forEach(each -> offsets.putIfAbsent(each.name(), each));
        List<UsageRecord> units = instance.problem().units();
        List<Row> rows = new ArrayList<>();
        addRows(rows, instance, offsets.values(), PlanRun.OFFSETS, LowerBounds.offsetBytes(units));
        addRows(
                rows,
                instance,
                SharedStrategies.all(),
                PlanRun.SHARED_OBJECTS,
                LowerBounds.sharedObjectBytes(units));
        return rows;
    }

    private void addRows(
            List<Row> rows,
            Instance instance,
            Collection<OffsetStrategy> strategies,
            String layout,
            long boundBytes) {
        for (OffsetStrategy each : strategies) {
            if (each.admits(instance.problem())) {
                Timed timed = time(() -> each.plan(instance.problem()));
                long bytes = timed.plan().totalBytes();
                rows.add(
                        new Row(
                                instance.name(),
                                instance.problem().units().size(),
                                each.name(),
                                layout,
                                bytes,
                                100.0 * (bytes - boundBytes) / boundBytes,
                                Quantiles.median().compute(timed.nanos()) / 1e6,
                                timed.nanos().size(),
                                PlanValidator.violations(timed.plan(), 1).isEmpty()));
            }
        }
    }

    private record Timed(OffsetPlan plan, List<Long> nanos) {}

    private Timed time(Supplier<OffsetPlan> planner) {
        Stopwatch all = Stopwatch.createStarted();
        OffsetPlan plan = planner.get();
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
        return new Timed(plan, nanos);
    }
}
