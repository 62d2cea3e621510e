package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * The units of a problem in the order in which they start, with sizes as ranks: 1 is the smallest
 * size that occurs. Time may be reversed, which does not change which plans are valid.
 */
final class Sweep {

    /** A unit with its interval in the direction of the sweep. */
    private record Entry(UsageRecord unit, long start, long end) {}

    private final ImmutableList<UsageRecord> units;
    private final long[] sizes;
    private final int[] ranks;
    private final int[] released;

    private Sweep(List<Entry> positions) {
        units = positions.stream().map(Entry::unit).collect(ImmutableList.toImmutableList());
        sizes = units.stream().mapToLong(UsageRecord::bytes).sorted().distinct().toArray();
        ranks = units.stream().mapToInt(unit -> rankOf(unit.bytes())).toArray();
        long[] starts = positions.stream().mapToLong(Entry::start).toArray();
        released = new int[positions.size()];
        for (int i = 0; i < released.length; i++) {
            released[i] = firstAfter(starts, positions.get(i).end);
        }
    }

    /** Returns the units in the direction that is estimated to have fewer states. */
    static Sweep of(Collection<UsageRecord> units) {
        Sweep forwards =
                inOrder(units.stream().map(u -> new Entry(u, u.first(), u.last())).toList());
        Sweep backwards =
                inOrder(units.stream().map(u -> new Entry(u, -u.last(), -u.first())).toList());
        return forwards.variety() <= backwards.variety() ? forwards : backwards;
    }

    private static Sweep inOrder(Collection<Entry> positions) {
        return new Sweep(
                ImmutableList.sortedCopyOf(
                        Comparator.comparingLong(Entry::start)
                                .thenComparing(Entry::unit, UnitOrders::bySize),
                        positions));
    }

    private static int firstAfter(long[] starts, long end) {
        int found = Arrays.binarySearch(starts, end + 1);
        int at = found >= 0 ? found : -found - 1;
        while (at > 0 && starts[at - 1] > end) {
            at--;
        }
        return at;
    }

    /** Returns the sum over all positions of the number of sizes that are still to come. */
    private long variety() {
        boolean[] met = new boolean[sizes.length + 1];
        long sum = 0;
        int distinct = 0;
        for (int i = size() - 1; i >= 0; i--) {
            if (!met[ranks[i]]) {
                met[ranks[i]] = true;
                distinct++;
            }
            sum += distinct;
        }
        return sum;
    }

    /** Returns the number of units. */
    int size() {
        return units.size();
    }

    UsageRecord unit(int position) {
        return units.get(position);
    }

    /** Returns the rank of the size of a unit. */
    int rank(int position) {
        return ranks[position];
    }

    /** Returns the first position at which the unit is finished. */
    int released(int position) {
        return released[position];
    }

    /** Returns the number of sizes, which is the highest rank. */
    int highestRank() {
        return sizes.length;
    }

    /** Returns the rank of an existing size. */
    int rankOf(long bytes) {
        return Arrays.binarySearch(sizes, bytes) + 1;
    }

    /** Returns the size in bytes of a rank, which is at least 1. */
    long bytesOf(int rank) {
        return sizes[rank - 1];
    }

    /** Returns the ranks of {@code sizes}, all of which must exist. */
    int[] ranksOf(Collection<Long> sizes) {
        return Arrays.stream(Longs.toArray(sizes)).mapToInt(this::rankOf).toArray();
    }
}
