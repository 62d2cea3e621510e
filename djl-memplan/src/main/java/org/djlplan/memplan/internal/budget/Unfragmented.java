package org.djlplan.memplan.internal.budget;

import java.util.Arrays;
import java.util.Optional;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * Computes when pieces would be loaded if an arena were a number of bytes without addresses. Each
 * load begins as soon as the arena has enough free bytes, wherever they lie.
 *
 * <p>No plan that loads pieces in the order of their first use, and pins the same pieces, is
 * faster: an early load delays neither earlier pieces, which are already loaded, nor later ones,
 * whose loads come later. So the result is a bound for all choices of addresses, and a target for
 * the search. An instance is used for one set of pinned pieces after another.
 */
final class Unfragmented {

    private final StreamingProblem problem;
    private final long budgetBytes;
    private final Foresight foresight;

    /**
     * Bytes of the activations of a step, minus those of the pieces that are not needed any more.
     */
    private final long[] fixed;

    /** Bytes of the pieces whose first use is at or before a step. */
    private final long[] used;

    private final int[] order;
    private int count;
    private final int[] earliest;

    /** Creates an instance for an arena of {@code budgetBytes}. */
    Unfragmented(StreamingProblem problem, long budgetBytes) {
        this.problem = problem;
        this.budgetBytes = budgetBytes;
        foresight = new Foresight(problem);
        fixed = new long[problem.steps() + 1];
        used = new long[problem.steps() + 1];
        order = new int[problem.weights().size()];
        earliest = new int[problem.weights().size()];
    }

    /**
     * Computes the loads, to which the other methods refer until the next call; returns their
     * outcome, empty if a step does not fit.
     *
     * @param pinned by use, whether it is pinned
     */
    Optional<Outcome> outcome(boolean[] pinned) {
        long roomBytes = budgetBytes - sum(pinned);
        for (int step = 0; step < problem.steps(); step++) {
            if (fixed[step] + used[step] > roomBytes) {
                return Optional.empty();
            }
        }
        long loadedBytes = 0;
        int loader = 0;
        for (int i = 0; i < count; i++) {
            WeightUse weight = problem.weights().get(order[i]);
            loadedBytes += weight.bytes();
            int from = weight.first();
            while (from > loader && fixed[from - 1] + loadedBytes <= roomBytes) {
                from--;
            }
            loader = Math.max(loader, from);
            earliest[order[i]] = loader;
        }
        return Optional.of(foresight.outcome(order, count, earliest));
    }

    /** Sums up the bytes of each step; returns the pinned bytes. */
    private long sum(boolean[] pinned) {
        Arrays.fill(fixed, 0);
        Arrays.fill(used, 0);
        Arrays.fill(earliest, 0);
        for (UsageRecord unit : problem.activations().units()) {
            fixed[unit.first()] += unit.bytes();
            fixed[unit.last() + 1] -= unit.bytes();
        }
        long pinnedBytes = 0;
        count = 0;
        for (int use = 0; use < pinned.length; use++) {
            WeightUse weight = problem.weights().get(use);
            if (pinned[use]) {
                pinnedBytes += weight.bytes();
            } else {
                order[count++] = use;
                used[weight.first()] += weight.bytes();
                fixed[weight.last() + 1] -= weight.bytes();
            }
        }
        for (int step = 1; step < fixed.length; step++) {
            fixed[step] += fixed[step - 1];
            used[step] += used[step - 1];
        }
        return pinnedBytes;
    }

    /** Returns the uses that are not pinned, by their first step. */
    int[] order() {
        return Arrays.copyOf(order, count);
    }

    /** Returns for how many steps each load waits, by use. */
    int[] earliest() {
        return earliest.clone();
    }

    /** Returns for how many steps each load can wait without delaying the inference, by use. */
    int[] latest() {
        Timeline timeline = new Timeline(problem, order(), earliest);
        int[] latest = new int[earliest.length];
        long deadline = Long.MAX_VALUE;
        for (int i = count - 1; i >= 0; i--) {
            WeightUse use = problem.weights().get(order[i]);
            long end = Math.min(deadline, timeline.beginNanos(use.first()));
            deadline = end - problem.costs().loadNanos(use.bytes());
            latest[order[i]] = Math.max(earliest[order[i]], timeline.finishedSteps(deadline));
        }
        return latest;
    }
}
