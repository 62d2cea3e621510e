package org.djlplan.memplan.study.shared;

import java.util.Arrays;
import java.util.OptionalInt;

/**
 * A row of numbers that answers where, from a position on, the first one below a limit is: a
 * segment tree of minima; O(log n) for a question or a removal.
 */
final class LeftmostBelow {

    private final int leaves;

    /** Node 1 is the root; node i has the children 2i and 2i + 1; a removed leaf is the maximum. */
    private final long[] minimum;

    LeftmostBelow(long[] numbers) {
        leaves = Math.max(1, Integer.highestOneBit(Math.max(1, numbers.length - 1)) * 2);
        minimum = new long[2 * leaves];
        Arrays.fill(minimum, Long.MAX_VALUE);
        System.arraycopy(numbers, 0, minimum, leaves, numbers.length);
        for (int node = leaves - 1; node > 0; node--) {
            minimum[node] = Math.min(minimum[2 * node], minimum[2 * node + 1]);
        }
    }

    /** Takes a number out; the others keep their positions. */
    void remove(int position) {
        int node = leaves + position;
        minimum[node] = Long.MAX_VALUE;
        for (node /= 2; node > 0; node /= 2) {
            minimum[node] = Math.min(minimum[2 * node], minimum[2 * node + 1]);
        }
    }

    /** Returns the first position, from {@code from} on, of a number below {@code limit}. */
    OptionalInt find(int from, long limit) {
        if (from >= leaves) {
            return OptionalInt.empty();
        }
        int node = leaves + from;
        while (minimum[node] >= limit) {
            // Up while this is the last of its subtree, then on to the next one.
            while ((node & 1) == 1) {
                node /= 2;
            }
            if (node == 0) {
                return OptionalInt.empty();
            }
            node++;
        }
        while (node < leaves) {
            node = minimum[2 * node] < limit ? 2 * node : 2 * node + 1;
        }
        return OptionalInt.of(node - leaves);
    }
}
