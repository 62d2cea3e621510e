package org.djlplan.memplan.internal.usage;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Positional maxima (Pisarchyk and Lee 2020, section 3): the i-th maximum is the maximum, over all
 * operator profiles, of the i-th largest size.
 *
 * <p>Records are added by size, largest first, to a count of tensors alive per operator. When the
 * largest count rises to i, some profile has i sizes of at least the size just added, and none had
 * before: that size is the i-th maximum. O(n log n), without building a single profile.
 */
public final class PositionalMaxima {

    private PositionalMaxima() {}

    /**
     * Returns the maxima in bytes, first to last; their number is that of the records in the
     * largest profile.
     */
    public static ImmutableList<Long> of(Collection<UsageRecord> records) {
        List<UsageRecord> bySize =
                records.stream()
                        .sorted(Comparator.comparingLong(UsageRecord::bytes).reversed())
                        .toList();
        int[] starts = records.stream().mapToInt(UsageRecord::first).sorted().distinct().toArray();
        AliveCounts alive = new AliveCounts(starts);
        ImmutableList.Builder<Long> maxima = ImmutableList.builder();
        int largest = 0;
        for (UsageRecord record : bySize) {
            alive.add(record);
            if (alive.maximum() > largest) {
                largest = alive.maximum();
                maxima.add(record.bytes());
            }
        }
        return maxima.build();
    }

    /**
     * Counts the added records that are alive at some operators: a segment tree with range addition
     * and total maximum.
     */
    private static final class AliveCounts {

        private final int[] operators;

        /** Largest count below a node, without the additions to its ancestors. */
        private final int[] maximum;

        /** The additions to all operators below a node. */
        private final int[] added;

        /**
         * @param operators operators to count at, ascending and distinct
         */
        AliveCounts(int[] operators) {
            this.operators = operators.clone();
            maximum = new int[4 * Math.max(1, operators.length)];
            added = new int[maximum.length];
        }

        /** Counts a record at every operator of its interval; it starts at one of the operators. */
        void add(UsageRecord record) {
            int from = Arrays.binarySearch(operators, record.first());
            int found = Arrays.binarySearch(operators, record.last());
            int to = found >= 0 ? found : -found - 2;
            add(1, 0, operators.length - 1, from, to);
        }

        /** Returns the largest count at any operator. */
        int maximum() {
            return maximum[1];
        }

        private void add(int node, int low, int high, int from, int to) {
            if (to < low || high < from) {
                return;
            }
            if (from <= low && high <= to) {
                maximum[node]++;
                added[node]++;
                return;
            }
            int middle = (low + high) >>> 1;
            add(2 * node, low, middle, from, to);
            add(2 * node + 1, middle + 1, high, from, to);
            maximum[node] = added[node] + Math.max(maximum[2 * node], maximum[2 * node + 1]);
        }
    }
}
