package org.djlplan.study.shared;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Runs shared-objects strategies on variants of a problem and validates every plan independently.
 */
public final class SharedObjectsPortfolio {

    private final ImmutableList<SharedObjectsStrategy> strategies;

    /**
     * @param strategies in order of preference for equally small plans
     */
    public SharedObjectsPortfolio(List<? extends SharedObjectsStrategy> strategies) {
        this.strategies = ImmutableList.copyOf(strategies);
    }

    /**
     * Returns the plan of every strategy for every variant that it supports, variant by variant.
     * All attempts at one variant have the same lower bound, the largest that any of them proved.
     *
     * @param variants the same records, for example without and with alias classes
     */
    public ImmutableList<SharedAttempt> attempts(List<PlanningProblem> variants) {
        ImmutableList.Builder<SharedAttempt> all = ImmutableList.builder();
        for (PlanningProblem problem : variants) {
            List<SharedAttempt> attempts =
                    strategies.stream()
                            .filter(strategy -> strategy.admits(problem))
                            .map(strategy -> attempt(strategy, problem))
                            .toList();
            long boundBytes =
                    attempts.stream().mapToLong(SharedAttempt::lowerBoundBytes).max().orElse(0);
            attempts.forEach(attempt -> all.add(attempt.withLowerBound(boundBytes)));
        }
        return all.build();
    }

    /** Returns the valid attempt with the smallest sum of objects, on a tie the first. */
    public static Optional<SharedAttempt> smallest(List<SharedAttempt> attempts) {
        return attempts.stream()
                .filter(SharedAttempt::valid)
                .min(Comparator.comparingLong(attempt -> attempt.plan().totalBytes()));
    }

    private static SharedAttempt attempt(SharedObjectsStrategy strategy, PlanningProblem problem) {
        long boundBytes = LowerBounds.sharedObjectBytes(problem.units());
        Stopwatch watch = Stopwatch.createStarted();
        SharedObjectsPlan plan;
        if (strategy instanceof OptimalObjects search) {
            OptimalObjects.Result result = search.search(problem);
            plan = result.plan();
            boundBytes = result.lowerBoundBytes();
        } else {
            plan = strategy.plan(problem);
        }
        long nanos = watch.elapsed(TimeUnit.NANOSECONDS);
        return new SharedAttempt(plan, nanos, SharedObjectsValidator.violations(plan), boundBytes);
    }
}
