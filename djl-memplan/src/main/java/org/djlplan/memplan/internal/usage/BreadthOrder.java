package org.djlplan.memplan.internal.usage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * The order in which Greedy by Breadth places units (Pisarchyk and Lee 2020, sections 4.2 and 5.3):
 * operators by breadth, largest first, ties by execution order; of each operator's profile the
 * units that are not placed yet, by size, largest first, ties by tensor id.
 *
 * <p>So a unit is placed in the turn of one operator: the first, in this order of operators, that
 * lies in the unit's interval. Only operators at which a unit starts are ranked, because the
 * profile of any other operator is part of an earlier operator's profile.
 */
public final class BreadthOrder {

    private BreadthOrder() {}

    /**
     * Returns the units in the order of placement.
     *
     * @throws ArithmeticException if a breadth does not fit into a long
     */
    public static ImmutableList<UsageRecord> of(Collection<UsageRecord> units) {
        Map<Integer, Long> breadths = new OperatorProfiles(units).breadthsAtStarts();
        int[] starts = Ints.toArray(breadths.keySet());
        List<Integer> byBreadth = new ArrayList<>(breadths.keySet());
        byBreadth.sort(Comparator.comparing(breadths::get, Comparator.reverseOrder()));
        int[] ranks = new int[starts.length];
        for (int rank = 0; rank < ranks.length; rank++) {
            ranks[Arrays.binarySearch(starts, byBreadth.get(rank))] = rank;
        }
        record Turn(UsageRecord unit, int rank) {}
        return units.stream()
                .map(unit -> new Turn(unit, leastRank(starts, ranks, unit)))
                .sorted(
                        Comparator.comparingInt(Turn::rank)
                                .thenComparing(Turn::unit, UnitOrders::bySize))
                .map(Turn::unit)
                .collect(ImmutableList.toImmutableList());
    }

    private static int leastRank(int[] starts, int[] ranks, UsageRecord unit) {
        int least = Integer.MAX_VALUE;
        for (int i = Arrays.binarySearch(starts, unit.first());
                i < starts.length && starts[i] <= unit.last();
                i++) {
            least = Math.min(least, ranks[i]);
        }
        return least;
    }
}
