package org.djlplan.study.shared;

import java.util.Arrays;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * The times at which objects become free, in an interval of a {@link Sweep}.
 *
 * <p>Objects are interchangeable if no later unit distinguishes their sizes. The time at which an
 * object becomes free can be postponed until the next unit that fits into the object. So two states
 * are equal if their times are equal after sorting within each group of interchangeable objects.
 */
final class FreeObjects {

    private final int from;
    private final int[] sizes;

    /**
     * Per object, a position: each unit from there on that fits into the object also fits into the
     * next object.
     */
    private final int[] alikeFrom;

    /**
     * Per object and position, relative to the first position, the next position whose unit fits
     * into the object.
     */
    private final int[][] nextUse;

    private final int[] freeFrom;

    /**
     * @param from first position; all objects are free then
     * @param to position after the last
     * @param sizes ranks of the objects' sizes, largest first
     */
    FreeObjects(Sweep sweep, int from, int to, int[] sizes) {
        this.from = from;
        this.sizes = sizes;
        alikeFrom = new int[sizes.length];
        nextUse = new int[sizes.length][];
        freeFrom = new int[sizes.length];
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
                            : nextUses(sweep, from, to, sizes[object]);
        }
    }

    private static int[] nextUses(Sweep sweep, int from, int to, int size) {
        int[] next = new int[to - from + 1];
        next[to - from] = to;
        for (int position = to - 1; position >= from; position--) {
            next[position - from] =
                    sweep.rank(position) <= size ? position : next[position - from + 1];
        }
        return next;
    }

    /** Returns the number of objects. */
    int count() {
        return sizes.length;
    }

    /** Returns the rank of an object's size. */
    int size(int object) {
        return sizes[object];
    }

    /** Returns the first position at which an object is free. */
    int freeFrom(int object) {
        return freeFrom[object];
    }

    void setFreeFrom(int object, int position) {
        freeFrom[object] = position;
    }

    /** Returns whether an object and the next one are interchangeable from a position on. */
    boolean isLikeNext(int object, int position) {
        return position >= alikeFrom[object];
    }

    /** Returns the position, and when the objects are free, sorted within groups. */
    ImmutableIntArray state(int position) {
        int[] times = new int[sizes.length + 1];
        times[sizes.length] = position;
        int groupEnd = sizes.length;
        for (int object = sizes.length - 1; object >= 0; object--) {
            times[object] = nextUse[object][Math.max(position, freeFrom[object]) - from];
            if (object == 0 || !isLikeNext(object - 1, position)) {
                Arrays.sort(times, object, groupEnd);
                groupEnd = object;
            }
        }
        return ImmutableIntArray.copyOf(times);
    }
}
