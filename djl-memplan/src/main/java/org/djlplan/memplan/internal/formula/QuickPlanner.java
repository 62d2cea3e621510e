package org.djlplan.memplan.internal.formula;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;

/**
 * Plans a prediction before it begins, in a small fraction of a millisecond: greedy by size
 * (Pisarchyk and Lee 2020, section 5.2, Algorithm 3) on arrays of numbers. If the arena exceeds the
 * lower bound, two other orders are tried: by bytes times duration; then, a few times, the
 * allocation that determines the arena's size is moved to the front.
 */
public final class QuickPlanner {

    /** Number of orders that are tried. */
    private static final int TRIES = 6;

    /**
     * Planning takes quadratic time: half a second for so many allocations, so for more of them it
     * hardly ever pays.
     */
    static final int MOST_ALLOCATIONS = 1 << 13;

    private final Guess guess;
    private final int count;
    private final int[] ends;
    private final long[] sizes;
    private final long[] offsets;

    /** Placed allocations, by offset. */
    private final int[] placed;

    /** The allocation that ends at the end of the arena. */
    private int highest;

    private QuickPlanner(Guess guess) {
        this.guess = guess;
        count = guess.size();
        ends = new int[count];
        sizes = new long[count];
        offsets = new long[count];
        placed = new int[count];
        for (int i = 0; i < count; i++) {
            ends[i] = guess.end(i);
            sizes[i] = guess.isPlaced(i) ? guess.alignedBytes(i) : 0;
        }
    }

    /**
     * Returns a valid plan; empty if the sizes do not fit into a long, or there are too many
     * allocations.
     */
    public static Optional<QuickPlan> plan(Guess guess) {
        if (guess.sumBytes() > Long.MAX_VALUE / 4 || guess.size() > MOST_ALLOCATIONS) {
            return Optional.empty();
        }
        return Optional.of(new QuickPlanner(guess).plan()).filter(QuickPlan::isValid);
    }

    private QuickPlan plan() {
        long bound = boundBytes();
        long best = Long.MAX_VALUE;
        long[] found = offsets;
        int[] order = guess.bySize();
        for (int i = 0; i < TRIES && best > bound; i++) {
            if (i == 1) {
                order = byArea();
            } else if (i > 1) {
                toFront(order, highest);
            }
            long arena = place(order);
            if (arena < best) {
                best = arena;
                found = offsets.clone();
            }
        }
        return new QuickPlan(guess, found, best, bound);
    }

    /** Returns the most bytes in use at once. */
    private long boundBytes() {
        long[] freed = new long[count + 1];
        long inUse = 0;
        long most = 0;
        for (int i = 0; i < count; i++) {
            inUse += sizes[i] - freed[i];
            freed[ends[i]] += sizes[i];
            most = Math.max(most, inUse);
        }
        return most;
    }

    /** Returns all allocations by bytes times duration, largest first. */
    private int[] byArea() {
        Integer[] order = new Integer[count];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingDouble(i -> -(double) sizes[i] * (ends[i] - i)));
        return Arrays.stream(order).mapToInt(number -> number).toArray();
    }

    private static void toFront(int[] order, int number) {
        int at = 0;
        while (order[at] != number) {
            at++;
        }
        System.arraycopy(order, 0, order, 1, at);
        order[0] = number;
    }

    /**
     * Places all allocations, each into the smallest gap that fits; returns the size of the arena.
     */
    private long place(int[] order) {
        long arena = 0;
        int done = 0;
        for (int number : order) {
            if (sizes[number] > 0) {
                long end = place(number, done++);
                if (end > arena) {
                    arena = end;
                    highest = number;
                }
            }
        }
        return arena;
    }

    private long place(int number, int done) {
        long size = sizes[number];
        int end = ends[number];
        long free = 0;
        long start = 0;
        long gap = Long.MAX_VALUE;
        for (int i = 0; i < done; i++) {
            int other = placed[i];
            if (other < end && number < ends[other]) {
                long between = offsets[other] - free;
                if (between >= size && between < gap) {
                    gap = between;
                    start = free;
                }
                free = Math.max(free, offsets[other] + sizes[other]);
            }
        }
        if (gap == Long.MAX_VALUE) {
            start = free;
        }
        offsets[number] = start;
        int at = done;
        while (at > 0 && offsets[placed[at - 1]] > start) {
            placed[at] = placed[at - 1];
            at--;
        }
        placed[at] = number;
        return start + size;
    }
}
