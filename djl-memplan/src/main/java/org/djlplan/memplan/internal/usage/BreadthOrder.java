package org.djlplan.memplan.internal.usage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * The order in which Greedy by Breadth places units (Pisarchyk and Lee 2020, sections 4.2 and 5.3):
 * operators by breadth, largest first, ties by execution order; of each operator's profile the
 * units that are not placed yet, by size, largest first, ties by tensor id.
 *
 * <p>So a unit is placed in the turn of one operator: the first, in this order of operators, that
 * lies in the unit's interval. Only operators at which a unit starts are ranked, because the
 * profile of any other operator is part of an earlier operator's profile. The order is thus one
 * sort by the smallest rank in each interval. A sparse table returns this rank in constant time:
 * O(n log n).
 */
public final class BreadthOrder {

    private BreadthOrder() {}

    /**
     * Returns the units in the order of placement.
     *
     * @throws ArithmeticException if a breadth does not fit into a long
     */
    public static ImmutableList<UsageRecord> of(Collection<UsageRecord> units) {
        SortedMap<Integer, Long> breadths = new OperatorProfiles(units).breadthsAtStarts();
        int[] starts = Ints.toArray(breadths.keySet());
        int[][] leastRanks = leastRanks(ranks(breadths));
        record Turn(UsageRecord unit, int rank) {}
        List<Turn> turns = new ArrayList<>();
        for (UsageRecord unit : units) {
            turns.add(new Turn(unit, leastRank(leastRanks, starts, unit)));
        }
        turns.sort(
                (a, b) ->
                        a.rank() != b.rank()
                                ? Integer.compare(a.rank(), b.rank())
                                : UnitOrders.bySize(a.unit(), b.unit()));
        ImmutableList.Builder<UsageRecord> order = ImmutableList.builder();
        for (Turn turn : turns) {
            order.add(turn.unit());
        }
        return order.build();
    }

    /** Returns, for each start in execution order, its rank in the order of breadths. */
    private static int[] ranks(Map<Integer, Long> breadths) {
        long[] breadth = Longs.toArray(breadths.values());
        Integer[] byBreadth = new Integer[breadth.length];
        Arrays.setAll(byBreadth, i -> i);
        Arrays.sort(byBreadth, (a, b) -> Long.compare(breadth[b], breadth[a]));
        int[] ranks = new int[breadth.length];
        for (int rank = 0; rank < ranks.length; rank++) {
            ranks[byBreadth[rank]] = rank;
        }
        return ranks;
    }

    /** Returns a sparse table: row k, column i is the smallest of 2^k ranks from i on. */
    private static int[][] leastRanks(int[] ranks) {
        int rows = 32 - Integer.numberOfLeadingZeros(Math.max(1, ranks.length));
        int[][] least = new int[rows][];
        least[0] = ranks;
        for (int k = 1; k < rows; k++) {
            int half = 1 << (k - 1);
            int[] shorter = least[k - 1];
            least[k] = new int[ranks.length - 2 * half + 1];
            for (int i = 0; i < least[k].length; i++) {
                least[k][i] = Math.min(shorter[i], shorter[i + half]);
            }
        }
        return least;
    }

    private static int leastRank(int[][] least, int[] starts, UsageRecord unit) {
        int from = Arrays.binarySearch(starts, unit.first());
        int found = Arrays.binarySearch(starts, unit.last());
        int to = found >= 0 ? found : -found - 2;
        int k = 31 - Integer.numberOfLeadingZeros(to - from + 1);
        return Math.min(least[k][from], least[k][to - (1 << k) + 1]);
    }
}
