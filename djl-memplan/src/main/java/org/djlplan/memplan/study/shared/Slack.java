package org.djlplan.memplan.study.shared;

import java.util.Arrays;

/**
 * How many objects are to spare at each turn of a stretch of a {@link Sweep}: for each size that
 * objects have, the number of objects that are at least as large, less the number of units alive
 * that need one so large. A unit in a larger object than it needs leaves one less to spare. Once
 * there are fewer than none, the units cannot all fit.
 */
final class Slack {

    private final Sweep sweep;
    private final int from;
    private final int to;

    /** The sizes that objects have, largest first. */
    private final int[] classes;

    /** Per class and turn, counted from the first turn of the stretch. */
    private final int[][] spare;

    /**
     * @param from first turn
     * @param to turn after the last
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
        for (int turn = from; turn < to; turn++) {
            int[] needed = spare[classNeeded(sweep.rank(turn))];
            needed[turn - from]--;
            needed[end(turn)]++;
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

    /** Returns the class of the smallest objects that are as large as {@code rank}. */
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

    private int end(int turn) {
        return Math.min(to, sweep.released(turn)) - from;
    }

    /** Returns how many numbers change when the unit of a turn is put into an object of a size. */
    long steps(int turn, int size) {
        int larger = classNeeded(sweep.rank(turn)) - classNeeded(size);
        return (long) larger * (end(turn) + from - turn);
    }

    /**
     * Puts the unit of a turn into an object of a size.
     *
     * @return the first turn at which objects are then missing, and nothing is changed; {@code to}
     *     if there is none
     */
    int take(int turn, int size) {
        int needed = classNeeded(sweep.rank(turn));
        int end = end(turn);
        int blocked = end;
        for (int i = classNeeded(size); i < needed; i++) {
            for (int at = turn - from; at < blocked; at++) {
                if (spare[i][at] == 0) {
                    blocked = at;
                }
            }
        }
        if (blocked < end) {
            return blocked + from;
        }
        add(turn, size, -1);
        return to;
    }

    /** Takes the unit of a turn out of an object of a size again. */
    void giveBack(int turn, int size) {
        add(turn, size, 1);
    }

    private void add(int turn, int size, int count) {
        int needed = classNeeded(sweep.rank(turn));
        int end = end(turn);
        for (int i = classNeeded(size); i < needed; i++) {
            for (int at = turn - from; at < end; at++) {
                spare[i][at] += count;
            }
        }
    }
}
