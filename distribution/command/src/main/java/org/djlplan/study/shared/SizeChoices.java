package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import org.djlplan.thirdparty.guava.math.LongMath;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * Generates candidate sizes of objects one by one, smallest sum first, without those that a nogood
 * found so far excludes.
 *
 * <p>Sizes avoid a nogood if, for some j, the first j sizes are larger than the nogood's j-th size:
 * each j is a branch.
 */
final class SizeChoices {

    /** Sizes as ranks, largest first, and their sum. */
    private record Choice(long bytes, long number, int[] sizes) {}

    private final Sweep sweep;
    private final long limitBytes;
    private final PriorityQueue<Choice> queue =
            new PriorityQueue<>(
                    Comparator.comparingLong(Choice::bytes).thenComparingLong(Choice::number));
    private final Set<ImmutableIntArray> known = new HashSet<>();

    /**
     * @param least minimum ranks of the sizes, largest first
     * @param limitBytes only smaller sums are searched
     */
    SizeChoices(Sweep sweep, int[] least, long limitBytes) {
        this.sweep = sweep;
        this.limitBytes = limitBytes;
        offer(least);
    }

    /**
     * Returns the sizes with the smallest sum that no nogood excludes; empty if none are left below
     * the limit, or the node budget is used up: then {@link #lowerBoundBytes} is still below the
     * limit.
     */
    Optional<int[]> smallest(List<Nogood> nogoods, NodeBudget budget) {
        while (!queue.isEmpty()) {
            int[] sizes = queue.element().sizes;
            Optional<Nogood> nogood =
                    nogoods.stream().filter(each -> each.covers(sizes)).findFirst();
            if (nogood.isEmpty()) {
                return Optional.of(sizes);
            }
            budget.spend(nogoods.size());
            if (!budget.take()) {
                return Optional.empty();
            }
            queue.remove();
            branch(sizes, nogood.get());
        }
        return Optional.empty();
    }

    /** Returns a lower bound in bytes of the sum of any sizes into which all units fit. */
    long lowerBoundBytes() {
        return queue.isEmpty() ? limitBytes : queue.element().bytes;
    }

    private void branch(int[] sizes, Nogood nogood) {
        for (int j = 0; j <= Math.max(sizes.length, nogood.sizes().length); j++) {
            int rank = nogood.bound(j) + 1;
            if (rank <= sweep.highestRank()) {
                int[] larger = Arrays.copyOf(sizes, Math.max(sizes.length, j + 1));
                for (int i = 0; i <= j; i++) {
                    larger[i] = Math.max(larger[i], rank);
                }
                offer(larger);
            }
        }
    }

    private void offer(int[] sizes) {
        long bytes = 0;
        for (int size : sizes) {
            bytes = LongMath.saturatedAdd(bytes, sweep.bytesOf(size));
        }
        if (bytes < limitBytes && known.add(ImmutableIntArray.copyOf(sizes))) {
            queue.add(new Choice(bytes, known.size(), sizes));
        }
    }
}
