package org.djlplan.study.strippacking;

import java.util.Arrays;
import java.util.OptionalInt;

/**
 * The bytes that may still be wasted at each moment if the arena must not exceed the lower bound: a
 * segment tree with range subtraction and the position of the minimum, O(log n) each.
 */
final class Slack {

    private final int leaves;

    /** Least slack below a node, without the subtractions at its ancestors. */
    private final long[] least;

    /** The subtractions from all moments below a node. */
    private final long[] subtracted;

    private long foundBytes;
    private int found;

    /** Starts with nothing wasted. */
    Slack(MomentTable timeline) {
        int moments = timeline.moments;
        leaves = Integer.highestOneBit(Math.max(1, 2 * moments - 1));
        least = new long[2 * leaves];
        subtracted = new long[2 * leaves];
        Arrays.fill(least, leaves + moments, 2 * leaves, Long.MAX_VALUE);
        long boundBytes = timeline.boundBytes();
        for (int moment = 0; moment < moments; moment++) {
            least[leaves + moment] = boundBytes - timeline.breadthBytes[moment];
        }
        for (int node = leaves - 1; node > 0; node--) {
            least[node] = Math.min(least[2 * node], least[2 * node + 1]);
        }
    }

    /** Subtracts {@code bytes} at the moments {@code from} to {@code to}, exclusive. */
    void waste(int from, int to, long bytes) {
        waste(1, 0, leaves, from, to, bytes);
    }

    /** Returns whether no moment is below zero. */
    boolean suffices() {
        return least[1] >= 0;
    }

    /**
     * Returns the moment between {@code from} and {@code to}, exclusive, with the least slack;
     * empty if that is not less than {@code bytes}.
     */
    OptionalInt leastBelow(int from, int to, long bytes) {
        foundBytes = bytes;
        search(1, 0, leaves, from, to, 0);
        return foundBytes < bytes ? OptionalInt.of(found) : OptionalInt.empty();
    }

    private void waste(int node, int low, int high, int from, int to, long bytes) {
        if (from <= low && high <= to) {
            least[node] -= bytes;
            subtracted[node] += bytes;
            return;
        }
        int middle = (low + high) >>> 1;
        if (from < middle) {
            waste(2 * node, low, middle, from, to, bytes);
        }
        if (to > middle) {
            waste(2 * node + 1, middle, high, from, to, bytes);
        }
        least[node] = Math.min(least[2 * node], least[2 * node + 1]) - subtracted[node];
    }

    private void search(int node, int low, int high, int from, int to, long above) {
        if (to <= low || high <= from || least[node] - above >= foundBytes) {
            return;
        }
        if (high - low == 1) {
            foundBytes = least[node] - above;
            found = low;
            return;
        }
        int middle = (low + high) >>> 1;
        long here = above + subtracted[node];
        if (least[2 * node] <= least[2 * node + 1]) {
            search(2 * node, low, middle, from, to, here);
            search(2 * node + 1, middle, high, from, to, here);
        } else {
            search(2 * node + 1, middle, high, from, to, here);
            search(2 * node, low, middle, from, to, here);
        }
    }
}
