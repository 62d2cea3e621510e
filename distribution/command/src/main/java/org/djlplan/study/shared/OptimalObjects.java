package org.djlplan.study.shared;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.PositionalMaxima;
import org.djlplan.study.shared.Fitting.Outcome;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Finds the smallest shared-objects plan by search: it colours an interval graph so that the sum of
 * each colour's largest size is minimal, which is NP-hard.
 *
 * <p>The search enumerates sizes of objects instead of plans, smallest sum first, starting from the
 * positional maxima ({@link SizeChoices}). A sweep through time decides whether the units fit into
 * objects of these sizes ({@link Fitting}); the first sizes into which they fit are optimal. If the
 * units do not fit, the failure is generalized to a short interval of time and to the largest sizes
 * into which the interval's units do not fit ({@link Nogood}); that excludes most other sizes at
 * once. The best plan of the other strategies is the upper bound, and is optimal if no smaller
 * sizes remain.
 *
 * <p>In the worst case the search is exponential in the number of units alive at once. For
 * networks, where that number is small, it takes milliseconds. Beyond a limit of nodes it returns
 * the best plan of the other strategies, with the proved lower bound.
 */
public final class OptimalObjects implements SharedObjectsStrategy {

    /**
     * The result of a search.
     *
     * @param plan the smallest plan found
     * @param lowerBoundBytes no plan of the problem is smaller: the sum of positional maxima, or a
     *     larger bound that the search proved
     */
    public record Result(SharedObjectsPlan plan, long lowerBoundBytes) {

        public Result {
            checkArgument(
                    lowerBoundBytes <= plan.totalBytes(),
                    "a plan of %s bytes, but none is below %s",
                    plan.totalBytes(),
                    lowerBoundBytes);
        }

        /** Returns whether no plan is smaller. */
        public boolean provedMinimal() {
            return plan.totalBytes() == lowerBoundBytes;
        }
    }

    /**
     * Limits of a search.
     *
     * @param nodes limit of nodes, where nodes that take longer than usual count as several; the
     *     same limit results in the same plan on any machine
     * @param nanos time limit, if any; a plan that depends on it may differ between runs
     */
    public record Limit(long nodes, OptionalLong nanos) {

        public Limit {
            checkArgument(nodes >= 0, "limit of %s nodes", nodes);
        }

        /** A limit of nodes alone. */
        public static Limit ofNodes(long nodes) {
            return new Limit(nodes, OptionalLong.empty());
        }
    }

    /** Enough for every network of the paper, and at most about a second. */
    private static final Limit USUAL = Limit.ofNodes(500_000);

    private final Limit limit;

    /** Creates a search limited by a fixed number of nodes. */
    public OptimalObjects() {
        this(USUAL);
    }

    /** Creates a search with the given limit. */
    public OptimalObjects(Limit limit) {
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
     * Returns the smallest plan found, and the proved lower bound.
     *
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public Result search(PlanningProblem problem) {
        SharedObjectsPlan best = bestOfOthers(problem);
        if (best.totalBytes() == LowerBounds.sharedObjectBytes(problem.units())) {
            return new Result(best, best.totalBytes());
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

    /** One search of {@link OptimalObjects}: tries sizes and learns from those that fail. */
    private static final class SizeSearch {

        /** Units in the shortest interval that is tried on its own. */
        private static final int SHORTEST = 16;

        /** Initial number of nodes spent on an interval, for each of its units. */
        private static final long NODES_PER_POSITION = 20;

        private final PlanningProblem problem;
        private final SharedObjectsPlan known;
        private final NodeBudget budget;
        private final Sweep sweep;
        private final SizeChoices choices;

        /** Latest first, because sizes often fail in the same interval again. */
        private final List<Nogood> nogoods = new ArrayList<>();

        /**
         * @param problem with one unit at least
         * @param known a plan; only smaller ones are searched
         */
        SizeSearch(PlanningProblem problem, SharedObjectsPlan known, NodeBudget budget) {
            this.problem = problem;
            this.known = known;
            this.budget = budget;
            sweep = Sweep.of(problem.units());
            int[] least = sweep.ranksOf(PositionalMaxima.of(problem.units()));
            choices = new SizeChoices(sweep, least, known.totalBytes());
        }

        Result run() {
            Optional<int[]> sizes = choices.smallest(nogoods, budget);
            while (sizes.isPresent()) {
                long before = budget.left();
                Fitting fitting = fit(sizes.get());
                switch (fitting.outcome()) {
                    case FITS -> {
                        SharedObjectsPlan optimum = plan(fitting.objects());
                        return new Result(optimum, optimum.totalBytes());
                    }
                    case GAVE_UP -> {
                        return new Result(known, choices.lowerBoundBytes());
                    }
                    case DOES_NOT_FIT ->
                            nogoods.add(
                                    0,
                                    Nogood.of(
                                            sweep,
                                            fitting,
                                            sizes.get(),
                                            before - budget.left(),
                                            budget));
                }
                sizes = choices.smallest(nogoods, budget);
            }
            return new Result(known, choices.lowerBoundBytes());
        }

        /**
         * Tries the fastest checks first: intervals in which units did not fit before, all units,
         * and longer and longer intervals on their own. An interval may show a failure that the
         * search for all units would not reach.
         */
        private Fitting fit(int[] sizes) {
            for (Nogood nogood : nogoods) {
                Fitting interval = new Fitting(sweep, nogood.from(), nogood.to(), sizes, budget);
                if (interval.outcome() != Outcome.FITS) {
                    return interval;
                }
            }
            Fitting all = fit(0, sweep.size(), sizes);
            if (all.outcome() != Outcome.GAVE_UP) {
                return all;
            }
            for (int length = SHORTEST; length < sweep.size(); length *= 2) {
                for (int from = 0; from < sweep.size(); from += length / 2) {
                    Fitting interval = fit(from, Math.min(from + length, sweep.size()), sizes);
                    if (interval.outcome() == Outcome.DOES_NOT_FIT) {
                        return interval;
                    }
                }
            }
            return new Fitting(sweep, 0, sweep.size(), sizes, budget);
        }

        private Fitting fit(int from, int to, int[] sizes) {
            NodeBudget trial = budget.share(NODES_PER_POSITION * (to - from));
            Fitting fitting = new Fitting(sweep, from, to, sizes, trial);
            budget.giveBack(trial);
            return fitting;
        }

        /** Returns a plan with objects numbered by first use. */
        private SharedObjectsPlan plan(int[] objects) {
            Map<Integer, Integer> byTensor = new TreeMap<>();
            for (int position = 0; position < objects.length; position++) {
                byTensor.put(sweep.unit(position).tensor(), objects[position]);
            }
            Map<Integer, Integer> numbers = new TreeMap<>();
            ImmutableMap.Builder<Integer, Integer> numbered = ImmutableMap.builder();
            byTensor.forEach(
                    (tensor, object) -> {
                        numbers.putIfAbsent(object, numbers.size());
                        numbered.put(tensor, numbers.get(object));
                    });
            return new SharedObjectsPlan(known.strategy(), problem, numbered.buildOrThrow());
        }
    }
}
