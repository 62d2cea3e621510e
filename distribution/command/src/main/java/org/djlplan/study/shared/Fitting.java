package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * A depth-first search that decides whether units fit into objects of given sizes: unit by unit in
 * the order of a {@link Sweep}, trying the smallest objects first.
 *
 * <p>From a position on, the search depends only on the times at which objects become free. Objects
 * are interchangeable if no later unit distinguishes their sizes, and the time at which an object
 * becomes free can be postponed until the next unit that fits into it. So states are compared with
 * the times sorted within each group of interchangeable objects, and a state that failed is not
 * tried again. A unit is not put into an unnecessarily large object if too few objects would remain
 * for later units ({@link Slack}).
 */
final class Fitting {

    /** The end of the search. */
    enum Outcome {
        FITS,
        DOES_NOT_FIT,
        GAVE_UP
    }

    /** Limit of the numbers in all remembered states; further states are not remembered. */
    private static final int MOST_REMEMBERED = 1 << 23;

    private final Sweep sweep;
    private final int from;
    private final int to;
    private final int[] sizes;
    private final NodeBudget budget;

    /**
     * Per object, the first position from which on every unit that fits into it also fits into the
     * next object.
     */
    private final int[] alikeFrom;

    /**
     * Per object and position, relative to the first position, the next position whose unit fits
     * into the object.
     */
    private final int[][] nextUse;

    private final Slack slack;
    private final int[] freeFrom;

    /**
     * Per position, the current or last object of its unit; untried objects have smaller numbers.
     */
    private final int[] objects;

    /** Per position, the time at which that object became free before. */
    private final int[] before;

    /** Per position, the state in which it was reached. */
    private final ImmutableIntArray[] states;

    private final Set<ImmutableIntArray> failed = new HashSet<>();
    private final Outcome outcome;
    private int deepest;

    /**
     * @param from first position; all objects are free then
     * @param to position after the last
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
        for (int position = from; position < to; position++) {
            lastOfRank[sweep.rank(position)] = position + 1;
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
        for (int position = to - 1; position >= from; position--) {
            next[position - from] =
                    sweep.rank(position) <= size ? position : next[position - from + 1];
        }
        return next;
    }

    private Outcome search() {
        int position = from;
        boolean descending = true;
        while (position < to) {
            budget.spend(sizes.length);
            if (!budget.take()) {
                return Outcome.GAVE_UP;
            }
            if (descending) {
                deepest = Math.max(deepest, position);
                states[position - from] = state(position);
                objects[position - from] = sizes.length;
            }
            if (!(descending && failed.contains(states[position - from]))
                    && placeFurther(position)) {
                position++;
                descending = true;
                continue;
            }
            if ((long) failed.size() * (sizes.length + 1) < MOST_REMEMBERED) {
                failed.add(states[position - from]);
            }
            if (position == from) {
                return Outcome.DOES_NOT_FIT;
            }
            position--;
            descending = false;
            freeFrom[objects[position - from]] = before[position - from];
            slack.giveBack(position, sizes[objects[position - from]]);
        }
        return Outcome.FITS;
    }

    /** Puts the unit of a position into the next untried object, if there is one. */
    private boolean placeFurther(int position) {
        int tried = objects[position - from];
        boolean groupDone = tried < sizes.length;
        for (int object = tried - 1; object >= 0; object--) {
            groupDone &= position >= alikeFrom[object];
            if (!groupDone
                    && sizes[object] >= sweep.rank(position)
                    && freeFrom[object] <= position) {
                groupDone = true;
                budget.spend(slack.steps(position, sizes[object]));
                int blocked = slack.take(position, sizes[object]);
                if (blocked == to) {
                    objects[position - from] = object;
                    before[position - from] = freeFrom[object];
                    freeFrom[object] = Math.min(to, sweep.released(position));
                    return true;
                }
                deepest = Math.max(deepest, blocked);
            }
        }
        return false;
    }

    /** Returns the position, and when the objects are free, sorted within groups. */
    private ImmutableIntArray state(int position) {
        int[] times = new int[sizes.length + 1];
        times[sizes.length] = position;
        int groupEnd = sizes.length;
        for (int object = sizes.length - 1; object >= 0; object--) {
            times[object] = nextUse[object][Math.max(position, freeFrom[object]) - from];
            if (object == 0 || position < alikeFrom[object - 1]) {
                Arrays.sort(times, object, groupEnd);
                groupEnd = object;
            }
        }
        return ImmutableIntArray.copyOf(times);
    }

    Outcome outcome() {
        return outcome;
    }

    /** Returns the first position. */
    int from() {
        return from;
    }

    /** Returns the position after the last tried unit; the rest does not affect the result. */
    int reached() {
        return deepest + 1;
    }

    /** Returns the object of every position from the first on, once the units fit. */
    int[] objects() {
        return objects.clone();
    }

    /**
     * The number of spare objects at each position of an interval of a {@link Sweep}: for each size
     * of objects, the number of objects of at least that size minus the number of live units that
     * need it. A unit in a larger object than necessary reduces the spare objects by one. If a
     * number becomes negative, the units cannot all fit.
     */
    private static final class Slack {

        private final Sweep sweep;
        private final int from;
        private final int to;

        /** The distinct sizes of objects, largest first. */
        private final int[] classes;

        /** Per class and position, relative to the first position of the interval. */
        private final int[][] spare;

        /**
         * @param from first position
         * @param to position after the last
         * @param sizes ranks of the objects' sizes, largest first; each unit fits into the largest
         */
        Slack(Sweep sweep, int from, int to, int[] sizes) {
            this.sweep = sweep;
            this.from = from;
            this.to = to;
            classes = Arrays.stream(sizes).distinct().toArray();
            spare = new int[classes.length][to - from + 1];
            for (int size : sizes) {
                spare[classNeeded(size)][0]++;
            }
            for (int position = from; position < to; position++) {
                int[] needed = spare[classNeeded(sweep.rank(position))];
                needed[position - from]--;
                needed[end(position)]++;
            }
            for (int i = 0; i < classes.length; i++) {
                for (int at = 1; at < spare[i].length; at++) {
                    spare[i][at] += spare[i][at - 1];
                }
            }
            for (int i = 1; i < classes.length; i++) {
                for (int at = 0; at < spare[i].length; at++) {
                    spare[i][at] += spare[i - 1][at];
                }
            }
        }

        /** Returns the class of the smallest objects that are at least as large as {@code rank}. */
        private int classNeeded(int rank) {
            int low = 0;
            for (int high = classes.length - 1; low < high; ) {
                int middle = (low + high + 1) >>> 1;
                if (classes[middle] >= rank) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            return low;
        }

        private int end(int position) {
            return Math.min(to, sweep.released(position)) - from;
        }

        /**
         * Returns the number of counters that change when the unit of a position is put into an
         * object of a size.
         */
        long steps(int position, int size) {
            int larger = classNeeded(sweep.rank(position)) - classNeeded(size);
            return (long) larger * (end(position) + from - position);
        }

        /**
         * Puts the unit of a position into an object of a size.
         *
         * @return the first position at which objects would be missing, with nothing changed;
         *     {@code to} if there is none
         */
        int take(int position, int size) {
            int needed = classNeeded(sweep.rank(position));
            int end = end(position);
            int blocked = end;
            for (int i = classNeeded(size); i < needed; i++) {
                for (int at = position - from; at < blocked; at++) {
                    if (spare[i][at] == 0) {
                        blocked = at;
                    }
                }
            }
            if (blocked < end) {
                return blocked + from;
            }
            add(position, size, -1);
            return to;
        }

        /** Removes the unit of a position from an object of a size. */
        void giveBack(int position, int size) {
            add(position, size, 1);
        }

        private void add(int position, int size, int count) {
            int needed = classNeeded(sweep.rank(position));
            int end = end(position);
            for (int i = classNeeded(size); i < needed; i++) {
                for (int at = position - from; at < end; at++) {
                    spare[i][at] += count;
                }
            }
        }
    }
}
