package org.djlplan.memplan.study.shared;

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

    /** Per object and turn, counted from the first, the next turn whose unit fits into it. */
    private final int[][] nextUse;

    private final Slack slack;
    private final int[] freeFrom;

    /** Per turn, the object its unit is in or was in last; further ones are those below. */
    private final int[] objects;

    /** Per turn, when that object was free before. */
    private final int[] before;

    /** Per turn, the state in which it was reached. */
    private final ImmutableIntArray[] states;

    private final Set<ImmutableIntArray> failed = new HashSet<>();
    private final Outcome outcome;
    private int deepest;

    /**
     * @param from first turn; all objects are free then
     * @param to turn after the last
     * @param sizes ranks of the objects' sizes, largest first; each unit fits into the largest
     */
    Fitting(Sweep sweep, int from, int to, int[] sizes, NodeBudget budget) {
        this.sweep = sweep;
        this.from = from;
        this.to = to;
        this.sizes = sizes;
        this.budget = budget;
        alikeFrom = new int[sizes.length];
        nextUse = new int[sizes.length][];
        freeFrom = new int[sizes.length];
        objects = new int[to - from];
        before = new int[to - from];
        states = new ImmutableIntArray[to - from];
        slack = new Slack(sweep, from, to, sizes);
        deepest = from;
        prepare();
        budget.spend((long) sizes.length * (to - from));
        outcome = search();
    }

    private void prepare() {
        Arrays.fill(freeFrom, from);
        int[] lastOfRank = new int[sweep.highestRank() + 1];
        for (int turn = from; turn < to; turn++) {
            lastOfRank[sweep.rank(turn)] = turn + 1;
        }
        for (int object = 0; object < sizes.length; object++) {
            int smaller = object + 1 < sizes.length ? sizes[object + 1] : 0;
            for (int rank = smaller + 1; rank <= sizes[object]; rank++) {
                alikeFrom[object] = Math.max(alikeFrom[object], lastOfRank[rank]);
            }
            nextUse[object] =
                    object > 0 && sizes[object] == sizes[object - 1]
                            ? nextUse[object - 1]
                            : nextUses(sizes[object]);
        }
    }

    private int[] nextUses(int size) {
        int[] next = new int[to - from + 1];
        next[to - from] = to;
        for (int turn = to - 1; turn >= from; turn--) {
            next[turn - from] = sweep.rank(turn) <= size ? turn : next[turn - from + 1];
        }
        return next;
    }

    private Outcome search() {
        int turn = from;
        boolean descending = true;
        while (turn < to) {
            budget.spend(sizes.length);
            if (!budget.take()) {
                return Outcome.GAVE_UP;
            }
            if (descending) {
                deepest = Math.max(deepest, turn);
                states[turn - from] = state(turn);
                objects[turn - from] = sizes.length;
            }
            if (!(descending && failed.contains(states[turn - from])) && placeFurther(turn)) {
                turn++;
                descending = true;
                continue;
            }
            if ((long) failed.size() * (sizes.length + 1) < MOST_REMEMBERED) {
                failed.add(states[turn - from]);
            }
            if (turn == from) {
                return Outcome.DOES_NOT_FIT;
            }
            turn--;
            descending = false;
            freeFrom[objects[turn - from]] = before[turn - from];
            slack.giveBack(turn, sizes[objects[turn - from]]);
        }
        return Outcome.FITS;
    }

    /** Puts the unit of a turn into the next object that was not tried, if there is one. */
    private boolean placeFurther(int turn) {
        int tried = objects[turn - from];
        boolean groupDone = tried < sizes.length;
        for (int object = tried - 1; object >= 0; object--) {
            groupDone &= turn >= alikeFrom[object];
            if (!groupDone && sizes[object] >= sweep.rank(turn) && freeFrom[object] <= turn) {
                groupDone = true;
                budget.spend(slack.steps(turn, sizes[object]));
                int blocked = slack.take(turn, sizes[object]);
                if (blocked == to) {
                    objects[turn - from] = object;
                    before[turn - from] = freeFrom[object];
                    freeFrom[object] = Math.min(to, sweep.released(turn));
                    return true;
                }
                deepest = Math.max(deepest, blocked);
            }
        }
        return false;
    }

    /** Returns the turn, and when the objects are free, sorted within groups. */
    private ImmutableIntArray state(int turn) {
        int[] times = new int[sizes.length + 1];
        times[sizes.length] = turn;
        int groupEnd = sizes.length;
        for (int object = sizes.length - 1; object >= 0; object--) {
            times[object] = nextUse[object][Math.max(turn, freeFrom[object]) - from];
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

    /** Returns the object of every turn from the first on, once the units fit. */
    int[] objects() {
        return objects.clone();
    }
}
