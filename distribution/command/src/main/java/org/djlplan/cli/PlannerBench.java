package org.djlplan.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
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
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Sets;
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
     * @param layout {@link PlanOutput#OFFSETS} or {@link PlanOutput#SHARED_OBJECTS}
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

    /** Returns one row per strategy that supports the problem. */
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

    /**
     * A strategy of either layout in benchmarks.
     *
     * @param name of the strategy
     * @param sharedObjects whether it assigns buffers, not offsets in one arena
     * @param admits which problems it supports
     * @param planner makes a plan of a problem
     */
    record BenchedStrategy(
            String name,
            boolean sharedObjects,
            Predicate<PlanningProblem> admits,
            Function<PlanningProblem, Plan> planner) {

        /**
         * A plan whose figures are computed on request, not while planning is timed.
         *
         * @param totalBytes size of the arena, or of all buffers together
         * @param valid whether the independent validator finds no error
         */
        record Plan(LongSupplier totalBytes, BooleanSupplier valid) {}

        /**
         * Returns every strategy, strategies for offsets first. Strategies that lay shared objects
         * end to end are left out, because their plans are those of shared objects.
         */
        static ImmutableList<BenchedStrategy> all() {
            Map<String, BenchedStrategy> all = new LinkedHashMap<>();
            for (List<OffsetStrategy> some :
                    List.of(Strategies.all(), ParallelPlanner.strategies())) {
                for (OffsetStrategy strategy : some) {
                    if (!(strategy instanceof EndToEnd)) {
                        all.putIfAbsent(strategy.name(), of(strategy));
                    }
                }
            }
            OffsetStrategy search = new ExactSearch();
            all.put(search.name(), of(search));
            SharedStrategies.all().forEach(strategy -> all.put(strategy.name(), of(strategy)));
            return ImmutableList.copyOf(all.values());
        }

        static BenchedStrategy of(OffsetStrategy strategy) {
            return new BenchedStrategy(
                    strategy.name(),
                    false,
                    strategy::admits,
                    problem -> {
                        OffsetPlan plan = strategy.plan(problem);
                        return new Plan(
                                plan::totalBytes,
                                () -> PlanValidator.violations(plan, 1).isEmpty());
                    });
        }

        static BenchedStrategy of(SharedObjectsStrategy strategy) {
            return new BenchedStrategy(
                    strategy.name(),
                    true,
                    strategy::admits,
                    problem -> {
                        SharedObjectsPlan plan = strategy.plan(problem);
                        return new Plan(
                                plan::totalBytes,
                                () -> SharedObjectsValidator.violations(plan).isEmpty());
                    });
        }

        /** Returns the name of its layout in reports. */
        String layout() {
            return sharedObjects ? PlanOutput.SHARED_OBJECTS : PlanOutput.OFFSETS;
        }
    }

    /**
     * Searches for a plan that fits, with all techniques and with each switched off, to measure
     * their effect.
     */
    static final class Techniques {

        /** Denotes the search with all techniques. */
        static final String NONE = "none";

        /**
         * One search.
         *
         * @param instance name of the problem
         * @param without the technique that was switched off, or {@link #NONE}
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

        private final SearchLimits limits;
        private final long capacityBytes;

        /**
         * @param limits of each search
         * @param capacityBytes that the plan must fit into
         */
        Techniques(SearchLimits limits, long capacityBytes) {
            this.limits = limits.withCapacityBytes(capacityBytes);
            this.capacityBytes = capacityBytes;
        }

        /** Returns one row with all techniques, then one without each, after a warm-up. */
        ImmutableList<SearchRow> rows(PlannerBench.Instance instance) {
            new ExactSearch(limits).search(instance.problem());
            ImmutableList.Builder<SearchRow> rows = ImmutableList.builder();
            rows.add(row(instance, NONE, Technique.ALL));
            for (Technique off : Technique.values()) {
                String name = off.name().toLowerCase(Locale.ROOT).replace('_', '-');
                rows.add(row(instance, name, Sets.difference(Technique.ALL, Set.of(off))));
            }
            return rows.build();
        }

        private SearchRow row(
                PlannerBench.Instance instance, String without, Set<Technique> techniques) {
            Stopwatch watch = Stopwatch.createStarted();
            SearchResult result = new ExactSearch(limits, techniques).search(instance.problem());
            double seconds = watch.elapsed(TimeUnit.NANOSECONDS) / 1e9;
            long bytes = result.plan().totalBytes();
            return new SearchRow(
                    instance.name(),
                    without,
                    seconds,
                    result.nodes(),
                    bytes,
                    bytes <= capacityBytes);
        }
    }
}
