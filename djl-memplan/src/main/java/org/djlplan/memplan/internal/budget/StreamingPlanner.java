package org.djlplan.memplan.internal.budget;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Plans a model for a budget: every strategy makes a plan, {@link StreamingValidator} checks it,
 * and the best plan is returned; of equally good plans, the first. The best plan has the least
 * predicted time; on a tie, the least time if loads take twice as long as predicted; then the
 * fewest loaded bytes.
 *
 * <p>Strategies are heuristic and may do worse with a larger budget. So a planner remembers the
 * quality of its plans for a problem: if the plan for a larger budget would be worse than an
 * earlier plan for a smaller budget, the planner makes the earlier plan again. Not thread-safe.
 */
public final class StreamingPlanner {

    private final ImmutableList<StreamingStrategy> strategies;

    /** The last planned problem, for comparison with the next. */
    private Optional<StreamingProblem> known = Optional.empty();

    /** Outcomes of that problem by budget; each is better than those of all smaller budgets. */
    private final TreeMap<Long, Outcome> outcomes = new TreeMap<>();

    /** Creates a planner with all strategies. */
    public StreamingPlanner() {
        this(List.of(new LookAheadStrategy(), new FlexNnStrategy()));
    }

    /**
     * @param strategies in order of preference for equally good plans; if none of them finds a
     *     plan, {@link TightestStrategy} is used
     */
    public StreamingPlanner(List<? extends StreamingStrategy> strategies) {
        this.strategies = ImmutableList.copyOf(strategies);
    }

    /** Returns the smallest budget for which a plan was found, in bytes. */
    public static long leastBudgetBytes(StreamingProblem problem) {
        return TightestStrategy.arenaBytes(problem);
    }

    /**
     * Returns a valid plan whose arena has at most {@code budgetBytes}.
     *
     * @param stepNames names of steps in messages to the user
     * @throws BudgetTooSmallException if no strategy finds one; the message names the cause
     */
    public StreamingPlan plan(
            StreamingProblem problem, long budgetBytes, IntFunction<String> stepNames)
            throws BudgetTooSmallException {
        Optional<StreamingPlan> best = best(problem, budgetBytes);
        if (best.isPresent()) {
            return noWorseThanForLess(best.get(), budgetBytes);
        }
        BudgetBound bound = BudgetBound.of(problem);
        long leastBytes = leastBudgetBytes(problem);
        throw new BudgetTooSmallException(
                stepNames.apply(bound.step())
                        + " alone needs "
                        + megabytes(bound.bytes())
                        + " for its weights, activations and temporaries",
                leastBytes);
    }

    private StreamingPlan noWorseThanForLess(StreamingPlan plan, long budgetBytes) {
        if (!known.equals(Optional.of(plan.problem()))) {
            known = Optional.of(plan.problem());
            outcomes.clear();
        }
        Outcome outcome = Outcome.of(plan);
        Map.Entry<Long, Outcome> smaller = outcomes.floorEntry(budgetBytes);
        if (smaller != null && !outcome.betterThan(smaller.getValue())) {
            return outcome.equals(smaller.getValue())
                    ? plan
                    : best(plan.problem(), smaller.getKey()).orElseThrow();
        }
        outcomes.tailMap(budgetBytes).values().removeIf(larger -> !larger.betterThan(outcome));
        outcomes.put(budgetBytes, outcome);
        return plan;
    }

    private Optional<StreamingPlan> best(StreamingProblem problem, long budgetBytes) {
        return best(strategies, problem, budgetBytes)
                .or(() -> best(List.of(new TightestStrategy()), problem, budgetBytes));
    }

    private static Optional<StreamingPlan> best(
            List<? extends StreamingStrategy> strategies,
            StreamingProblem problem,
            long budgetBytes) {
        return strategies.stream()
                .flatMap(strategy -> strategy.plan(problem, budgetBytes).stream())
                .filter(plan -> plan.arenaBytes() <= budgetBytes)
                .filter(plan -> StreamingValidator.violations(plan).isEmpty())
                .min(Comparator.comparing(Outcome::of));
    }

    /** Rounded up, so that a budget of this size is sufficient. */
    private static String megabytes(long bytes) {
        long tenths = (bytes + 99_999) / 100_000;
        return tenths / 10 + "." + tenths % 10 + " MB";
    }
}
