package org.djlplan.study.strippacking;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * The unplaced units as a range tree, which finds the most preferred unit whose interval lies
 * within a time span. The outer level is a Fenwick tree over the units by first operator, latest
 * first, so that the units starting at or after some operator are in O(log n) of its nodes. A node
 * contains its units by last operator, with a segment tree of the smallest rank, so that the units
 * ending at or before some operator are in O(log n) of its nodes.
 *
 * <p>O(n log n) memory and building time, O(log² n) per query and removal. A query skips nodes
 * whose smallest rank is no better than the best rank found so far, so most queries cost little
 * more than O(log n).
 */
final class Candidates {

    /** Stands for no rank. */
    private static final int NONE = Integer.MAX_VALUE;

    /** First operators, latest first, negated: ascending. */
    private final int[] negatedFirsts;

    /** Last operators, ascending. */
    private final int[] lasts;

    /** By rank: the unit's place in the order of {@link #negatedFirsts}, counted from 1. */
    private final int[] outer;

    /** By rank: the unit's place in the order of {@link #lasts}. */
    private final int[] inner;

    /** Where an outer node's entries begin. */
    private final int[] begin;

    /** Of all outer nodes: places in the order of {@link #lasts}, ascending in each node. */
    private final int[] places;

    /** Of all outer nodes, at twice their begin: segment trees of the least rank, root at 1. */
    private final int[] leastRanks;

    /**
     * @param units most preferred first; a unit's index is its rank
     */
    Candidates(List<UsageRecord> units) {
        int count = units.size();
        int[] byFirst = order(units, (a, b) -> Integer.compare(b.first(), a.first()));
        int[] byLast = order(units, (a, b) -> Integer.compare(a.last(), b.last()));
        negatedFirsts = new int[count];
        lasts = new int[count];
        outer = new int[count];
        inner = new int[count];
        begin = new int[count + 2];
        for (int place = 0; place < count; place++) {
            negatedFirsts[place] = -units.get(byFirst[place]).first();
            outer[byFirst[place]] = place + 1;
            lasts[place] = units.get(byLast[place]).last();
            inner[byLast[place]] = place;
        }
        for (int node = 1; node <= count; node++) {
            begin[node + 1] = Math.addExact(begin[node], size(node));
        }
        places = new int[begin[count + 1]];
        leastRanks = new int[2 * places.length];
        build(byLast);
    }

    private static int[] order(List<UsageRecord> units, Comparator<UsageRecord> comparator) {
        List<Integer> ranks = new ArrayList<>();
        for (int rank = 0; rank < units.size(); rank++) {
            ranks.add(rank);
        }
        ranks.sort((a, b) -> comparator.compare(units.get(a), units.get(b)));
        return Ints.toArray(ranks);
    }

    private void build(int[] byLast) {
        int[] filled = new int[outer.length + 1];
        for (int rank : byLast) {
            for (int node = outer[rank]; node < filled.length; node += size(node)) {
                int entry = filled[node]++;
                places[begin[node] + entry] = inner[rank];
                leastRanks[2 * begin[node] + size(node) + entry] = rank;
            }
        }
        for (int node = 1; node < filled.length; node++) {
            for (int i = size(node) - 1; i > 0; i--) {
                update(2 * begin[node], i);
            }
        }
    }

    /** Returns how many units an outer node holds, a power of two. */
    private static int size(int node) {
        return node & -node;
    }

    private void update(int root, int i) {
        leastRanks[root + i] = Math.min(leastRanks[root + 2 * i], leastRanks[root + 2 * i + 1]);
    }

    /** Returns the least rank of a unit whose interval lies within [{@code first, last}]. */
    OptionalInt bestWithin(int first, int last) {
        int limit = countUpTo(lasts, last);
        int best = NONE;
        for (int node = countUpTo(negatedFirsts, -first); node > 0; node -= size(node)) {
            if (leastRanks[2 * begin[node] + 1] < best) {
                best = Math.min(best, leastRank(node, limit));
            }
        }
        return best == NONE ? OptionalInt.empty() : OptionalInt.of(best);
    }

    /** Returns the least rank among an outer node's units with a place below {@code limit}. */
    private int leastRank(int node, int limit) {
        int found = Arrays.binarySearch(places, begin[node], begin[node + 1], limit);
        int entries = (found >= 0 ? found : -found - 1) - begin[node];
        int root = 2 * begin[node];
        if (entries == size(node)) {
            return leastRanks[root + 1];
        }
        int best = NONE;
        for (int end = size(node) + entries; end > 1; end >>= 1) {
            if ((end & 1) == 1) {
                best = Math.min(best, leastRanks[root + end - 1]);
            }
        }
        return best;
    }

    /** Takes out the unit of a rank. */
    void remove(int rank) {
        for (int node = outer[rank]; node <= outer.length; node += size(node)) {
            int at = Arrays.binarySearch(places, begin[node], begin[node + 1], inner[rank]);
            int root = 2 * begin[node];
            int i = size(node) + at - begin[node];
            leastRanks[root + i] = NONE;
            for (i >>= 1; i > 0; i >>= 1) {
                update(root, i);
            }
        }
    }

    /** Returns how many of the ascending {@code values} are at most {@code limit}. */
    private static int countUpTo(int[] values, int limit) {
        int low = 0;
        int high = values.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (values[middle] <= limit) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
