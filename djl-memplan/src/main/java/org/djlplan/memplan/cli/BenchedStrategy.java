package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.PlanValidator;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.study.parallel.ParallelPlanner;
import org.djlplan.memplan.study.shared.EndToEnd;
import org.djlplan.memplan.study.shared.SharedObjectsPlan;
import org.djlplan.memplan.study.shared.SharedObjectsStrategy;
import org.djlplan.memplan.study.shared.SharedObjectsValidator;
import org.djlplan.memplan.study.shared.SharedStrategies;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * A strategy of either layout as benchmarks see it.
 *
 * @param name as the strategy says
 * @param sharedObjects whether it gives out buffers, not offsets in one arena
 * @param admits which problems it can plan
 * @param planner plans
 */
record BenchedStrategy(
        String name,
        boolean sharedObjects,
        Predicate<PlanningProblem> admits,
        Function<PlanningProblem, Plan> planner) {

    /**
     * A plan whose figures are computed when asked for, not while planning is timed.
     *
     * @param totalBytes size of the arena, or of all buffers together
     * @param valid whether the independent check finds nothing wrong
     */
    record Plan(LongSupplier totalBytes, BooleanSupplier valid) {}

    /**
     * Returns every strategy, those of offsets first. Shared objects laid end to end are left out:
     * they are the same plans again.
     */
    static ImmutableList<BenchedStrategy> all() {
        Map<String, BenchedStrategy> all = new LinkedHashMap<>();
        for (List<OffsetStrategy> some : List.of(Strategies.all(), ParallelPlanner.strategies())) {
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
                            plan::totalBytes, () -> PlanValidator.violations(plan, 1).isEmpty());
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

    /** Returns the name that reports give its layout. */
    String layout() {
        return sharedObjects ? PlanOutput.SHARED_OBJECTS : PlanOutput.OFFSETS;
    }
}
