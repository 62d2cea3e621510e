package org.djlplan.memplan.internal.plan;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Runs strategies on variants of a problem, validates every plan independently, and returns the
 * smallest valid one.
 */
public final class Portfolio {

    /**
     * The strategies that plan models in applications, in order of preference for equally small
     * plans. Planning stops once the lower bound is reached, so quick and often successful
     * strategies come first.
     */
    public static final ImmutableList<OffsetStrategy> STRATEGIES =
            ImmutableList.of(Greedy.BY_SIZE, Greedy.BY_BREADTH, Greedy.REPEATED);

    private final ImmutableList<OffsetStrategy> strategies;
    private final long alignmentBytes;

    /**
     * @param strategies in order of preference for equally small plans
     * @param alignmentBytes required alignment of offsets
     */
    public Portfolio(List<? extends OffsetStrategy> strategies, long alignmentBytes) {
        this.strategies = ImmutableList.copyOf(strategies);
        this.alignmentBytes = alignmentBytes;
    }

    /**
     * Returns the plan of every strategy for every variant that it supports, variant by variant.
     *
     * @param variants the same records, for example without and with alias classes
     */
    public ImmutableList<Attempt> attempts(List<PlanningProblem> variants) {
        ImmutableList.Builder<Attempt> attempts = ImmutableList.builder();
        for (PlanningProblem problem : variants) {
            for (OffsetStrategy strategy : strategies) {
                if (strategy.admits(problem)) {
                    attempts.add(attempt(strategy, problem));
                }
            }
        }
        return attempts.build();
    }

    /**
     * Returns the valid plan with the smallest arena, on a tie the first; the naive plan if no
     * strategy has a valid one. Stops at a plan that is proved minimal.
     *
     * @param variants the same records, at least one; earlier ones are preferred
     */
    public Attempt best(List<PlanningProblem> variants) {
        long boundBytes = Long.MAX_VALUE;
        for (PlanningProblem problem : variants) {
            boundBytes = Math.min(boundBytes, LowerBounds.offsetBytes(problem.units()));
        }
        Attempt best = null;
        for (PlanningProblem problem : variants) {
            for (OffsetStrategy strategy : strategies) {
                if (best != null && best.plan().totalBytes() == boundBytes) {
                    return best;
                }
                if (strategy.admits(problem)) {
                    best = better(best, strategy, problem);
                }
            }
        }
        return best != null ? best : attempt(Greedy.NAIVE, variants.get(0));
    }

    /** Only a plan that would be used is validated. */
    private Attempt better(Attempt best, OffsetStrategy strategy, PlanningProblem problem) {
        Stopwatch watch = Stopwatch.createStarted();
        OffsetPlan plan = strategy.plan(problem);
        if (best != null && plan.totalBytes() >= best.plan().totalBytes()) {
            return best;
        }
        Attempt attempt = validated(plan, watch);
        return attempt.valid() ? attempt : best;
    }

    private Attempt attempt(OffsetStrategy strategy, PlanningProblem problem) {
        Stopwatch watch = Stopwatch.createStarted();
        return validated(strategy.plan(problem), watch);
    }

    private Attempt validated(OffsetPlan plan, Stopwatch watch) {
        long nanos = watch.elapsed(TimeUnit.NANOSECONDS);
        return new Attempt(
                plan,
                nanos,
                PlanValidator.violations(plan, alignmentBytes),
                LowerBounds.offsetBytes(plan.problem().units()));
    }
}
