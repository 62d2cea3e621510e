package org.djlplan.memplan.cli;

import com.google.common.base.Stopwatch;
import com.google.common.collect.ImmutableList;
import com.google.common.math.Quantiles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.PlanningProblem;

/** Plans problems by every strategy that admits them and takes the time. */
final class PlannerBench {

    /** A slow strategy is not run again when its runs took longer than this together. */
    private static final Duration ENOUGH = Duration.ofSeconds(10);

    /**
     * A problem with a name.
     *
     * @param name of its file, or of its kind
     * @param problem what is to be planned
     */
    record Instance(String name, PlanningProblem problem) {}

    /**
     * What one strategy made of one problem.
     *
     * @param instance name of the problem
     * @param units number of units
     * @param strategy name of the strategy
     * @param layout {@link PlanOutput#OFFSETS} or {@link PlanOutput#SHARED_OBJECTS}
     * @param totalBytes size of the arena, or of all buffers together
     * @param percentAboveBound by how much that is above the lower bound of the layout
     * @param medianMillis median time
     * @param runs how many times the median is of; fewer than asked for where a run takes seconds
     * @param valid whether the independent check found nothing wrong
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

    /** Returns one row per strategy that admits the problem. */
    ImmutableList<Row> rows(Instance instance) {
        PlanningProblem problem = instance.problem();
        long offsetsBound = LowerBounds.offsetBytes(problem.units());
        long sharedBound = LowerBounds.sharedObjectBytes(problem.units());
        ImmutableList.Builder<Row> rows = ImmutableList.builder();
        for (BenchedStrategy strategy : BenchedStrategy.all()) {
            if (strategy.admits().test(problem)) {
                long bound = strategy.sharedObjects() ? sharedBound : offsetsBound;
                rows.add(row(instance, strategy, bound));
            }
        }
        return rows.build();
    }

    private Row row(Instance instance, BenchedStrategy strategy, long boundBytes) {
        Stopwatch all = Stopwatch.createStarted();
        BenchedStrategy.Plan plan = strategy.planner().apply(instance.problem());
        List<Long> nanos = new ArrayList<>(List.of(all.elapsed(TimeUnit.NANOSECONDS)));
        if (all.elapsed().compareTo(ENOUGH) < 0) {
            while (all.elapsed().compareTo(warmUp) < 0) {
                plan = strategy.planner().apply(instance.problem());
            }
            nanos.clear();
            do {
                Stopwatch one = Stopwatch.createStarted();
                plan = strategy.planner().apply(instance.problem());
                nanos.add(one.elapsed(TimeUnit.NANOSECONDS));
            } while (nanos.size() < repeat && all.elapsed().compareTo(ENOUGH) < 0);
        }
        long bytes = plan.totalBytes().getAsLong();
        return new Row(
                instance.name(),
                instance.problem().units().size(),
                strategy.name(),
                strategy.layout(),
                bytes,
                100.0 * (bytes - boundBytes) / boundBytes,
                Quantiles.median().compute(nanos) / 1e6,
                nanos.size(),
                plan.valid().getAsBoolean());
    }
}
