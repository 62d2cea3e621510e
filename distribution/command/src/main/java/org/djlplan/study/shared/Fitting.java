package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * A depth-first search that decides whether units fit into objects of given sizes: unit by unit in
 * the order of a {@link Sweep}, trying the smallest objects first.
 *
 * <p>From a position on, the search depends only on the times at which objects become free ({@link
 * FreeObjects}), so a state that failed is not tried again. A unit is not put into an unnecessarily
 * large object if too few objects would remain for later units ({@link Slack}).
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
    private final NodeBudget budget;
    private final FreeObjects free;
    private final Slack slack;

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
        this.budget = budget;
        objects = new int[to - from];
        before = new int[to - from];
        states = new ImmutableIntArray[to - from];
        free = new FreeObjects(sweep, from, to, sizes);
        slack = new Slack(sweep, from, to, sizes);
        deepest = from;
        budget.spend((long) sizes.length * (to - from));
        outcome = search();
    }

    private Outcome search() {
        int position = from;
        boolean descending = true;
        while (position < to) {
            budget.spend(free.count());
            if (!budget.take()) {
                return Outcome.GAVE_UP;
            }
            if (descending) {
                deepest = Math.max(deepest, position);
                states[position - from] = free.state(position);
                objects[position - from] = free.count();
            }
            if (!(descending && failed.contains(states[position - from]))
                    && placeFurther(position)) {
                position++;
                descending = true;
                continue;
            }
            if ((long) failed.size() * (free.count() + 1) < MOST_REMEMBERED) {
                failed.add(states[position - from]);
            }
            if (position == from) {
                return Outcome.DOES_NOT_FIT;
            }
            position--;
            descending = false;
            int object = objects[position - from];
            free.setFreeFrom(object, before[position - from]);
            slack.giveBack(position, free.size(object));
        }
        return Outcome.FITS;
    }

    /** Puts the unit of a position into the next untried object, if there is one. */
    private boolean placeFurther(int position) {
        int tried = objects[position - from];
        boolean groupDone = tried < free.count();
        for (int object = tried - 1; object >= 0; object--) {
            groupDone &= free.isLikeNext(object, position);
            if (!groupDone
                    && free.size(object) >= sweep.rank(position)
                    && free.freeFrom(object) <= position) {
                groupDone = true;
                budget.spend(slack.steps(position, free.size(object)));
                int blocked = slack.take(position, free.size(object));
                if (blocked == to) {
                    objects[position - from] = object;
                    before[position - from] = free.freeFrom(object);
                    free.setFreeFrom(object, Math.min(to, sweep.released(position)));
                    return true;
                }
                deepest = Math.max(deepest, blocked);
            }
        }
        return false;
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
