package org.djlplan.memplan.plan.scale;

import java.util.function.IntConsumer;

/**
 * Which units overlap a unit in time: a tree over units by start that knows the last end below each
 * node. k of n units are found in O(k log n), in O(k + log n) if they start close together.
 */
final class Neighbours {

    private final Timeline timeline;
    private final int leaves;
    private final int[] lastEnd;

    Neighbours(Timeline timeline) {
        this.timeline = timeline;
        int count = timeline.to.length;
        leaves = Integer.highestOneBit(Math.max(1, 2 * count - 1));
        lastEnd = new int[2 * leaves];
        System.arraycopy(timeline.to, 0, lastEnd, leaves, count);
        for (int node = leaves - 1; node > 0; node--) {
            lastEnd[node] = Math.max(lastEnd[2 * node], lastEnd[2 * node + 1]);
        }
    }

    /** Hands on every unit that overlaps {@code unit}, itself included. */
    void forEach(int unit, IntConsumer consumer) {
        int started = timeline.startedBefore[timeline.to[unit]];
        collect(1, 0, leaves, started, timeline.from[unit], consumer);
    }

    private void collect(
            int node, int low, int high, int started, int endAfter, IntConsumer consumer) {
        if (started <= low || lastEnd[node] <= endAfter) {
            return;
        }
        if (high - low == 1) {
            consumer.accept(low);
            return;
        }
        int middle = (low + high) >>> 1;
        collect(2 * node, low, middle, started, endAfter, consumer);
        collect(2 * node + 1, middle, high, started, endAfter, consumer);
    }
}
