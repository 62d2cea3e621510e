package org.djlplan.study.strippacking;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/**
 * The unplaced units, as a tree ordered by start. A node stores the highest priority and the first
 * and last end below it, so that a search for the unit with the highest priority in an interval
 * skips nodes that lie elsewhere or have a lower priority. On profiles of real models a search
 * visits a few dozen nodes, however large the tree is; there is no such bound for all problems.
 */
final class Unplaced {

    private final MomentTable timeline;
    private final int leaves;

    /** Highest priority below a node; 0 if there is no unit. */
    private final int[] priority;

    /** First end below a node. */
    private final int[] firstEnd;

    /** Last end below a node. */
    private final int[] lastEnd;

    private long visits;
    private int foundPriority;
    private int found;

    /**
     * @param priorities of every unit of the timeline, positive
     */
    Unplaced(MomentTable timeline, int[] priorities) {
        this.timeline = timeline;
        int count = priorities.length;
        leaves = Integer.highestOneBit(Math.max(1, 2 * count - 1));
        priority = new int[2 * leaves];
        firstEnd = new int[2 * leaves];
        lastEnd = new int[2 * leaves];
        Arrays.fill(firstEnd, leaves + count, 2 * leaves, Integer.MAX_VALUE);
        System.arraycopy(priorities, 0, priority, leaves, count);
        System.arraycopy(timeline.to, 0, firstEnd, leaves, count);
        System.arraycopy(timeline.to, 0, lastEnd, leaves, count);
        for (int node = leaves - 1; node > 0; node--) {
            update(node);
        }
    }

    /** Returns the number of visited nodes. */
    long visits() {
        return visits;
    }

    /** Removes a unit. */
    void remove(int unit) {
        int node = leaves + unit;
        priority[node] = 0;
        firstEnd[node] = Integer.MAX_VALUE;
        lastEnd[node] = 0;
        for (node /= 2; node > 0; node /= 2) {
            update(node);
        }
    }

    /**
     * Returns the unit with the highest priority that lies between {@code from} and {@code to} and
     * is alive at {@code moment}. Ties are broken by starts, tensor ids and priorities.
     */
    OptionalInt within(int from, int moment, int to) {
        return search(from, moment + 1, moment, to);
    }

    /**
     * Returns the unit with the highest priority among all units between {@code from} and {@code
     * to}.
     */
    OptionalInt within(int from, int to) {
        return search(from, to, from, to);
    }

    /** Passes every unit that is alive at {@code moment} to {@code consumer}. */
    void forEachAlive(int moment, IntConsumer consumer) {
        collect(1, 0, leaves, moment, consumer);
    }

    private OptionalInt search(int startFrom, int startTo, int endAfter, int endUpTo) {
        foundPriority = 0;
        int low = timeline.startedBefore[startFrom];
        int high = timeline.startedBefore[startTo];
        search(1, 0, leaves, low, high, endAfter, endUpTo);
        return foundPriority > 0 ? OptionalInt.of(found) : OptionalInt.empty();
    }

    private void search(int node, int low, int high, int from, int to, int endAfter, int endUpTo) {
        visits++;
        if (to <= low
                || high <= from
                || priority[node] <= foundPriority
                || firstEnd[node] > endUpTo
                || lastEnd[node] <= endAfter) {
            return;
        }
        if (high - low == 1) {
            foundPriority = priority[node];
            found = low;
            return;
        }
        int middle = (low + high) >>> 1;
        if (priority[2 * node] >= priority[2 * node + 1]) {
            search(2 * node, low, middle, from, to, endAfter, endUpTo);
            search(2 * node + 1, middle, high, from, to, endAfter, endUpTo);
        } else {
            search(2 * node + 1, middle, high, from, to, endAfter, endUpTo);
            search(2 * node, low, middle, from, to, endAfter, endUpTo);
        }
    }

    private void collect(int node, int low, int high, int moment, IntConsumer consumer) {
        visits++;
        if (timeline.startedBefore[moment + 1] <= low || lastEnd[node] <= moment) {
            return;
        }
        if (high - low == 1) {
            consumer.accept(low);
            return;
        }
        int middle = (low + high) >>> 1;
        collect(2 * node, low, middle, moment, consumer);
        collect(2 * node + 1, middle, high, moment, consumer);
    }

    private void update(int node) {
        int left = 2 * node;
        int right = left + 1;
        priority[node] = Math.max(priority[left], priority[right]);
        firstEnd[node] = Math.min(firstEnd[left], firstEnd[right]);
        lastEnd[node] = Math.max(lastEnd[left], lastEnd[right]);
    }
}
