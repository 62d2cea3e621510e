package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The places in an arena while a plan is made. The placed objects are <em>items</em>: first the
 * units of the activations, then the uses of pieces, both in the order of the problem.
 *
 * <p>Only addresses must be chosen. The load of a use begins as soon as the last item that overlaps
 * its bytes is finished, because nothing else needs these bytes in between. Loads are carried out
 * in the order in which pieces are first used. All steps that a load waits for come before its
 * first use, and thus before the first use of every later load, so no choice of addresses can
 * deadlock.
 */
final class Layout {

    /** The choice among gaps that are large enough. */
    enum Fit {
        /** The smallest gap, on a tie the lowest; free space up to the arena's end comes last. */
        TIGHTEST,
        /** The gap with the lowest offset. */
        LOWEST,
        /** The gap with the highest offset, and in this gap the highest offset. */
        HIGHEST
    }

    private static final long NOWHERE = -1;

    private final StreamingProblem problem;
    private final long sizeBytes;

    /** The arena's bytes without the pinned uses at its end. */
    private long capacityBytes;

    private final int units;
    private final int[] first;
    private final int[] last;
    private final long[] bytes;
    private final boolean[] pinned;
    private final long[] start;

    private final PlacedItems placed;

    Layout(StreamingProblem problem, long sizeBytes) {
        this.problem = problem;
        this.sizeBytes = sizeBytes;
        units = problem.activations().units().size();
        int items = units + problem.weights().size();
        first = new int[items];
        last = new int[items];
        bytes = new long[items];
        pinned = new boolean[items];
        start = new long[items];
        placed = new PlacedItems(problem.steps());
        clear();
    }

    /** Removes all items from their places. */
    void clear() {
        capacityBytes = sizeBytes;
        Arrays.fill(pinned, false);
        Arrays.fill(start, NOWHERE);
        placed.clear();
        List<UsageRecord> activations = problem.activations().units();
        for (int i = 0; i < units; i++) {
            UsageRecord unit = activations.get(i);
            set(i, unit.first(), unit.last(), unit.bytes());
        }
        for (int i = units; i < items(); i++) {
            WeightUse use = problem.weights().get(i - units);
            set(i, use.first(), use.last(), use.bytes());
        }
    }

    private void set(int item, int firstStep, int lastStep, long size) {
        first[item] = firstStep;
        last[item] = lastStep;
        bytes[item] = size;
    }

    /** Returns the number of items. */
    int items() {
        return first.length;
    }

    /** Returns the number of units, which is also the index of the first use's item. */
    int units() {
        return units;
    }

    /** Returns the first step of an item, 0 if it is pinned. */
    int first(int item) {
        return first[item];
    }

    /** Returns the last step of an item, inclusive. */
    int last(int item) {
        return last[item];
    }

    /** Returns the size of an item. */
    long bytes(int item) {
        return bytes[item];
    }

    /**
     * Places pinned uses side by side at the arena's end, where nothing else is placed from then
     * on. There must be room for them.
     *
     * @param uses by use, whether it is pinned
     */
    void pin(boolean[] uses) {
        capacityBytes = capacityBytes / WeightUse.PAGE_BYTES * WeightUse.PAGE_BYTES;
        for (int use = 0; use < uses.length; use++) {
            if (uses[use]) {
                pinned[units + use] = true;
                capacityBytes -= bytes[units + use];
                start[units + use] = capacityBytes;
            }
        }
        checkState(capacityBytes >= 0, "no room for what is pinned");
    }

    /** Returns whether an item has a place. */
    boolean isPlaced(int item) {
        return start[item] != NOWHERE;
    }

    /**
     * Returns the offset of a gap for an item from step {@code from} to its last step, −1 if no gap
     * is large enough.
     */
    long gap(int item, int from, Fit fit) {
        long size = bytes[item];
        long alignment = item < units ? UsageRecords.ALIGNMENT_BYTES : WeightUse.PAGE_BYTES;
        long free = 0;
        long best = NOWHERE;
        long bestGap = Long.MAX_VALUE;
        PlacedItems.Window around = placed.around(from, last[item]);
        for (int i = 0; i <= around.count(); i++) {
            boolean atEnd = i == around.count();
            int other = atEnd ? item : around.item(i);
            if (!atEnd && (first[other] > last[item] || last[other] < from)) {
                continue;
            }
            long end = atEnd ? capacityBytes : start[other];
            long low = (free + alignment - 1) / alignment * alignment;
            if (low <= end - size) {
                if (fit == Fit.LOWEST) {
                    return low;
                }
                if (fit == Fit.HIGHEST) {
                    best = (end - size) / alignment * alignment;
                } else if (end - free < bestGap && (!atEnd || best == NOWHERE)) {
                    best = low;
                    bestGap = end - free;
                }
            }
            if (!atEnd) {
                free = Math.max(free, start[other] + bytes[other]);
            }
        }
        return best;
    }

    /**
     * Returns the first step, at or after {@code least}, from which there is a gap for an item
     * until its last step; −1 if there is none even from its first step on.
     */
    int earliest(int item, int least) {
        int high = first[item];
        if (gap(item, high, Fit.LOWEST) == NOWHERE) {
            return -1;
        }
        int low = Math.min(least, high);
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (gap(item, middle, Fit.LOWEST) == NOWHERE) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Puts an item at an offset; it occupies its place from step {@code from} on. */
    void place(int item, int from, long offset) {
        checkState(start[item] == NOWHERE, "item %s has a place", item);
        first[item] = Math.min(from, first[item]);
        start[item] = offset;
        placed.add(item, first[item], last[item], start);
    }

    /** Puts an item into a gap from a step on; returns false if there is none. */
    boolean tryPlace(int item, int from, Fit fit) {
        long offset = gap(item, from, fit);
        if (offset != NOWHERE) {
            place(item, from, offset);
        }
        return offset != NOWHERE;
    }

    /** Removes an item from its place. */
    void remove(int item) {
        placed.remove(item, first[item], last[item]);
        start[item] = NOWHERE;
        if (item >= units) {
            first[item] = problem.weights().get(item - units).first();
        }
    }

    /** Returns the size of the arena, in whole pages. */
    long arenaBytes() {
        long end = 0;
        for (int item = 0; item < items(); item++) {
            end = Math.max(end, isPlaced(item) ? start[item] + bytes[item] : 0);
        }
        return WeightUse.roundUp(end);
    }

    /** Returns for how many steps the load of each use must wait; all items must have a place. */
    int[] after() {
        int[] after = new int[items() - units];
        for (int item = units; item < items(); item++) {
            if (!pinned[item]) {
                after[item - units] = after(item);
            }
        }
        return after;
    }

    private int after(int item) {
        int firstUse = problem.weights().get(item - units).first();
        long end = start[item] + bytes[item];
        int after = 0;
        PlacedItems.Window all = placed.all();
        for (int i = 0; i < all.count() && start[all.item(i)] < end; i++) {
            int other = all.item(i);
            if (last[other] < firstUse && start[other] + bytes[other] > start[item]) {
                after = Math.max(after, last[other] + 1);
            }
        }
        return after;
    }

    /**
     * Returns the plan; all items must have a place.
     *
     * @param order the uses that are not pinned, in the order of their loads
     */
    StreamingPlan plan(String strategy, int[] order) {
        checkState(IntStream.range(0, items()).allMatch(this::isPlaced), "an item has no place");
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builderWithExpectedSize(units);
        for (int i = 0; i < units; i++) {
            offsets.put(problem.activations().units().get(i).tensor(), start[i]);
        }
        int[] after = after();
        ImmutableList.Builder<Load> loads = ImmutableList.builder();
        for (int use = 0; use < after.length; use++) {
            if (pinned[units + use]) {
                loads.add(new Load(use, start[units + use], 0, true));
            }
        }
        for (int use : order) {
            loads.add(new Load(use, start[units + use], after[use], false));
        }
        return new StreamingPlan(
                strategy, problem, offsets.buildOrThrow(), loads.build(), arenaBytes());
    }

    /** Returns the plan that loads pieces in the order of their first use. */
    StreamingPlan plan(String strategy) {
        return plan(
                strategy,
                IntStream.range(0, items() - units).filter(u -> !pinned[units + u]).toArray());
    }
}
