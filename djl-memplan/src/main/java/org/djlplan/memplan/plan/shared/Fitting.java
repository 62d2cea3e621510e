package org.djlplan.memplan.plan.shared;

import com.google.common.primitives.ImmutableIntArray;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Whether units fit into objects of given sizes: depth first, unit by unit in the order of a {@link
 * Sweep}; the smallest objects are tried first.
 *
 * <p>What happens from a turn on depends only on when each object becomes free. Objects whose sizes
 * no coming unit tells apart are interchangeable, and a time at which an object becomes free may be
 * put off until a unit comes that fits into it. So states are compared after sorting the times
 * within each group of interchangeable objects, and a state that failed is not tried again. Nor is
 * a unit put into a larger object than it needs where that leaves too few for later ones ({@link
 * Slack}).
 */
final class Fitting {

    /** How it ended. */
    enum Outcome {
        FITS,
        DOES_NOT_FIT,
        GAVE_UP
    }

    /** Numbers in all remembered states; beyond, states are tried again. */
    private static final int MOST_REMEMBERED = 1 << 23;

    private final Sweep sweep;
    private final int from;
    private final int to;
    private final int[] sizes;
    private final NodeBudget budget;

    /** Per object, the first turn from which on no unit fits into it but not into the next one. */
    private final int[] alikeFrom;

    /** Per object and turn, the first turn from there on whose unit fits into it. */
    private final int[][] nextUse;

    private final Slack slack;
    private final int[] freeFrom;
    private final int[] objects;
    private final Set<ImmutableIntArray> failed = new HashSet<>();
    private final Outcome outcome;
    private int deepest;

    /**
     * @param from first turn; all objects are free then
     * @param to turn after the last
     * @param sizes ranks of the objects' sizes, largest first
     */
    Fitting(Sweep sweep, int from, int to, int[] sizes, NodeBudget budget) {
        this.sweep = sweep;
        this.from = from;
        this.to = to;
        this.sizes = sizes;
        this.budget = budget;
        alikeFrom = new int[sizes.length];
        nextUse = new int[sizes.length][];
        prepare();
        slack = new Slack(sweep, from, to, sizes);
        freeFrom = new int[sizes.length];
        Arrays.fill(freeFrom, from);
        objects = new int[to];
        deepest = from;
        boolean enough = budget.take((long) sizes.length * (to - from));
        outcome = enough ? place(from) : Outcome.GAVE_UP;
    }

    private void prepare() {
        int[] lastOfRank = new int[sweep.highestRank() + 1];
        for (int turn = from; turn < to; turn++) {
            lastOfRank[sweep.rank(turn)] = turn + 1;
        }
        for (int object = 0; object < sizes.length; object++) {
            int smaller = object + 1 < sizes.length ? sizes[object + 1] : 0;
            for (int rank = smaller + 1; rank <= sizes[object]; rank++) {
                alikeFrom[object] = Math.max(alikeFrom[object], lastOfRank[rank]);
            }
            if (object > 0 && sizes[object] == sizes[object - 1]) {
                nextUse[object] = nextUse[object - 1];
            } else {
                nextUse[object] = nextUses(sizes[object]);
            }
        }
    }

    /** Returns the table for an object; its first entry is for turn 0, though none asks for it. */
    private int[] nextUses(int size) {
        int[] next = new int[to + 1];
        next[to] = to;
        for (int turn = to - 1; turn >= from; turn--) {
            next[turn] = sweep.rank(turn) <= size ? turn : next[turn + 1];
        }
        return next;
    }

    private Outcome place(int turn) {
        if (turn == to) {
            return Outcome.FITS;
        }
        if (!budget.take(sizes.length)) {
            return Outcome.GAVE_UP;
        }
        deepest = Math.max(deepest, turn);
        ImmutableIntArray state = state(turn);
        if (failed.contains(state)) {
            return Outcome.DOES_NOT_FIT;
        }
        boolean groupDone = false;
        for (int object = sizes.length - 1; object >= 0; object--) {
            boolean newGroup = object == sizes.length - 1 || turn < alikeFrom[object];
            groupDone &= !newGroup;
            if (!groupDone && sizes[object] >= sweep.rank(turn) && freeFrom[object] <= turn) {
                groupDone = true;
                Outcome rest = place(turn, object);
                if (rest != Outcome.DOES_NOT_FIT) {
                    return rest;
                }
            }
        }
        if ((long) failed.size() * (sizes.length + 1) < MOST_REMEMBERED) {
            failed.add(state);
        }
        return Outcome.DOES_NOT_FIT;
    }

    private Outcome place(int turn, int object) {
        if (!budget.take(slack.steps(turn, sizes[object]))) {
            return Outcome.GAVE_UP;
        }
        int blocked = slack.take(turn, sizes[object]);
        if (blocked < to) {
            deepest = Math.max(deepest, blocked);
            return Outcome.DOES_NOT_FIT;
        }
        int before = freeFrom[object];
        freeFrom[object] = Math.min(to, sweep.released(turn));
        objects[turn] = object;
        Outcome rest = place(turn + 1);
        freeFrom[object] = before;
        slack.giveBack(turn, sizes[object]);
        return rest;
    }

    /** Returns the turn, and when the objects are free, sorted within groups. */
    private ImmutableIntArray state(int turn) {
        int[] times = new int[sizes.length + 1];
        times[sizes.length] = turn;
        int groupEnd = sizes.length;
        for (int object = sizes.length - 1; object >= 0; object--) {
            times[object] = nextUse[object][Math.max(turn, freeFrom[object])];
            if (object == 0 || turn < alikeFrom[object - 1]) {
                Arrays.sort(times, object, groupEnd);
                groupEnd = object;
            }
        }
        return ImmutableIntArray.copyOf(times);
    }

    Outcome outcome() {
        return outcome;
    }

    /** Returns the first turn. */
    int from() {
        return from;
    }

    /** Returns the turn after the last unit that was tried: without the rest it is the same. */
    int reached() {
        return deepest + 1;
    }

    /** Returns the object of every turn, once the units fit. */
    int[] objects() {
        return objects.clone();
    }
}
