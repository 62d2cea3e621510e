package org.djlplan.memplan.study.shared;

import java.util.Comparator;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.PlanningProblem;

/**
 * The smallest shared-objects plan, by search: colouring an interval graph so that the sum of the
 * largest sizes per colour is least, which is NP-hard.
 *
 * <p>Not plans are enumerated but the sizes of the objects, smallest sum first, from the positional
 * maxima on ({@link SizeChoices}). Whether the units fit into objects of these sizes is decided by
 * a sweep through time ({@link Fitting}); the first sizes into which they fit are optimal. Where
 * they do not, the reason is generalized: to a short stretch of time, and to the largest sizes into
 * which its units do not fit either ({@link Conflict}); that rules out most other sizes at once.
 * The search starts from the best plan of the other strategies and proves it optimal when nothing
 * smaller is left.
 *
 * <p>Exponential in the number of units alive at once at worst, but for networks, where that is
 * small, it takes milliseconds. Beyond a limit of nodes the best plan of the other strategies is
 * returned, with what was proved as the lower bound.
 */
public final class OptimalObjects implements SharedObjectsStrategy {

    /** Enough for every network of the paper, and at most about a second. */
    private static final SearchLimit USUAL = SearchLimit.ofNodes(500_000);

    private final SearchLimit limit;

    /** A search limited by a fixed number of nodes. */
    public OptimalObjects() {
        this(USUAL);
    }

    /** A search with the given limit. */
    public OptimalObjects(SearchLimit limit) {
        this.limit = limit;
    }

    @Override
    public String name() {
        return "shared-optimal";
    }

    @Override
    public int largestProblem() {
        return 2_000;
    }

    /**
     * {@inheritDoc}
     *
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        return search(problem).plan();
    }

    /**
     * Returns the smallest plan found, and what is known about smaller ones.
     *
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public SharedSearchResult search(PlanningProblem problem) {
        SharedObjectsPlan best = bestOfOthers(problem);
        if (best.totalBytes() == LowerBounds.sharedObjectBytes(problem.units())) {
            return new SharedSearchResult(best, best.totalBytes());
        }
        return new SizeSearch(problem, best, new NodeBudget(limit)).run();
    }

    private SharedObjectsPlan bestOfOthers(PlanningProblem problem) {
        return SharedStrategies.WITHOUT_SEARCH.stream()
                .filter(strategy -> strategy.admits(problem))
                .map(strategy -> strategy.plan(problem))
                .min(Comparator.comparingLong(SharedObjectsPlan::totalBytes))
                .map(plan -> new SharedObjectsPlan(name(), problem, plan.unitObjects()))
                .orElseThrow();
    }
}
