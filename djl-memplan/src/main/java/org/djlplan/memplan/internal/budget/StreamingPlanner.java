package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.Timeline.Outcome;
import org.djlplan.memplan.internal.plan.OffsetPlan;

/**
 * Plans a model for a budget, as FlexNN does (Li et al. 2024, MobiCom): slices of weights,
 * activations and temporaries share one arena, and pieces are loaded while earlier steps run.
 *
 * <ol>
 *   <li>Which pieces to pin: those with the least computing time per byte, because their loads
 *       cannot be hidden. {@link LookAhead} quickly computes the result of a number of pins for an
 *       arena without fragmentation, so many numbers are tried.
 *   <li>The step from which each piece is in the arena: the earliest one that the bytes allow, or,
 *       because an early piece is harder to place, one that is closer to its first use.
 *   <li>{@link Layout} finds addresses, and computes from them how early each load may begin.
 * </ol>
 *
 * <p>The best plan has the least predicted time ({@link Timeline}). If no plan fits, the model is
 * planned for the smallest arena.
 *
 * <p>Plans are heuristic and may be worse for a larger budget. So a planner remembers the quality
 * of its plans for a problem: if the plan for a larger budget would be worse than an earlier plan
 * for a smaller budget, the planner makes the earlier plan again. Not thread-safe.
 */
public final class StreamingPlanner {

    /** Number of tried sets of pinned pieces, about. */
    private static final int MOST_SETS = 64;

    /** Fractions of the way from a piece's first use to the earliest beginning of its load. */
    private static final double[] EAGERNESS = {1, 0.75, 0.5, 0.25, 0};

    /** Limit of the layouts that are computed for one eagerness. */
    private static final int MOST_LAYOUTS = 4;

    /** The last planned problem, for comparison with the next. */
    private Optional<StreamingProblem> known = Optional.empty();

    /** Outcomes of that problem by budget; a larger budget always has a better outcome. */
    private final TreeMap<Long, Outcome> outcomes = new TreeMap<>();

    /** A set of pinned pieces, how early pieces can be loaded, and the result of that. */
    private record Choice(boolean[] pinned, int[] after, Outcome bound) {

        /** Returns, for each use, the step at which its piece should enter the arena. */
        int[] wanted(StreamingProblem problem, double eagerness) {
            int[] wanted = new int[after.length];
            for (int use = 0; use < wanted.length; use++) {
                int first = problem.weights().get(use).first();
                wanted[use] = first - (int) Math.round(eagerness * (first - after[use]));
            }
            return wanted;
        }
    }

    /** Returns the smallest budget for which a plan was found, in bytes. */
    public static long leastBudgetBytes(StreamingProblem problem) {
        return new Layout(problem).packed().totalBytes();
    }

    /** Returns the plan with the smallest arena. */
    public static StreamingPlan tightest(StreamingProblem problem) {
        Layout layout = new Layout(problem);
        OffsetPlan packed = layout.packed();
        StreamingPlan plan = layout.tightest(packed, packed.totalBytes());
        checkState(plan.isValid(), "the smallest plan is invalid");
        return plan;
    }

    /**
     * Returns a valid plan whose arena has at most {@code budgetBytes}.
     *
     * @param stepNames names of steps in messages to the user
     * @throws BudgetTooSmallException if none is found; the message names the cause
     */
    public StreamingPlan plan(
            StreamingProblem problem, long budgetBytes, IntFunction<String> stepNames)
            throws BudgetTooSmallException {
        Optional<StreamingPlan> best = best(problem, budgetBytes);
        if (best.isPresent()) {
            return noWorseThanForLess(best.get(), budgetBytes);
        }
        StreamingProblem.Bound bound = problem.bound();
        throw new BudgetTooSmallException(
                stepNames.apply(bound.step())
                        + " alone needs "
                        + megabytes(bound.bytes())
                        + " for its weights, activations and temporaries",
                leastBudgetBytes(problem));
    }

    private StreamingPlan noWorseThanForLess(StreamingPlan plan, long budgetBytes) {
        if (!known.equals(Optional.of(plan.problem()))) {
            known = Optional.of(plan.problem());
            outcomes.clear();
        }
        Outcome outcome = Outcome.of(plan);
        Map.Entry<Long, Outcome> smaller = outcomes.floorEntry(budgetBytes);
        if (smaller != null && outcome.compareTo(smaller.getValue()) >= 0) {
            return outcome.equals(smaller.getValue())
                    ? plan
                    : best(plan.problem(), smaller.getKey()).orElseThrow();
        }
        outcomes.tailMap(budgetBytes).values().removeIf(larger -> larger.compareTo(outcome) >= 0);
        outcomes.put(budgetBytes, outcome);
        return plan;
    }

    /** Returns the best plan that is found; empty if the budget is too small. */
    private static Optional<StreamingPlan> best(StreamingProblem problem, long budgetBytes) {
        Layout layout = new Layout(problem);
        OffsetPlan packed = layout.packed();
        Optional<StreamingPlan> best =
                packed.totalBytes() <= budgetBytes
                        ? Optional.of(layout.tightest(packed, budgetBytes))
                                .filter(StreamingPlan::isValid)
                        : Optional.empty();
        Outcome outcome = best.map(Outcome::of).orElse(Outcome.WORST);
        List<Choice> choices = choices(problem, budgetBytes);
        for (double eagerness : EAGERNESS) {
            for (Choice choice : choices) {
                if (choice.bound.compareTo(outcome) >= 0) {
                    break;
                }
                Optional<StreamingPlan> next =
                        layout.lookingAhead(
                                choice.pinned, choice.wanted(problem, eagerness), budgetBytes);
                if (next.isPresent()
                        && Outcome.of(next.get()).compareTo(outcome) < 0
                        && next.get().isValid()) {
                    best = next;
                    outcome = Outcome.of(next.get());
                }
            }
        }
        return best;
    }

    /** Returns the most promising sets of pinned pieces, the best bound first. */
    private static List<Choice> choices(StreamingProblem problem, long budgetBytes) {
        int uses = problem.weights().size();
        LookAhead window =
                new LookAhead(problem.weights(), problem.activationBytes(), new int[uses]);
        List<Integer> worthMost = worthMost(problem);
        List<Choice> choices = new ArrayList<>();
        boolean[] pinned = new boolean[uses];
        long windowBytes = budgetBytes / WeightUse.PAGE_BYTES * WeightUse.PAGE_BYTES;
        for (int count = 0; count <= uses; count++) {
            if (count % (1 + uses / MOST_SETS) == 0 || count == uses) {
                boolean[] now = pinned.clone();
                window.after(now, windowBytes)
                        .map(after -> new Choice(now, after, Outcome.of(problem, now, after)))
                        .ifPresent(choices::add);
            }
            if (count < uses) {
                int next = worthMost.get(count);
                pinned[next] = true;
                windowBytes -= problem.weights().get(next).bytes();
            }
        }
        choices.sort(Comparator.comparing(Choice::bound));
        return choices.subList(0, Math.min(MOST_LAYOUTS, choices.size()));
    }

    /** Returns the uses, those with the least computing time per byte first. */
    private static List<Integer> worthMost(StreamingProblem problem) {
        double[] nanosPerByte = new double[problem.weights().size()];
        for (int i = 0; i < nanosPerByte.length; i++) {
            WeightUse use = problem.weights().get(i);
            for (int step = use.first(); step <= use.last(); step++) {
                nanosPerByte[i] += (double) problem.costs().computeNanos(step) / use.bytes();
            }
        }
        return IntStream.range(0, nanosPerByte.length)
                .boxed()
                .sorted(Comparator.comparingDouble(use -> nanosPerByte[use]))
                .toList();
    }

    /** Rounded up, so that a budget of this size is sufficient. */
    private static String megabytes(long bytes) {
        long tenths = (bytes + 99_999) / 100_000;
        return tenths / 10 + "." + tenths % 10 + " MB";
    }
}
