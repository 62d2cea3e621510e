package org.djlplan.study.search;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.djlplan.study.search.CapacitySearch.Outcome;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * Makes search attempts until the best plan is proved minimal or fits the goal. Without a goal it
 * alternates between two aims: to raise the lower bound, and to improve the best plan. Whether an
 * order of candidates suits a problem shows early or very late, so most attempts are short: their
 * lengths follow Luby's series, which is optimal for restarts up to a logarithmic factor. Knowledge
 * of sections and failures is kept between attempts.
 */
final class Minimizer implements Runnable {

    private static final long NODES_PER_UNIT = 2;

    private final Sections sections;
    private final OptionalLong goalBytes;
    private final long mostNodes;
    private final BooleanSupplier stop;
    private final CapacitySearch lowerAttempts;
    private final CapacitySearch planAttempts;
    private final List<Comparator<Integer>> orders;

    /**
     * All totals are sums of sizes, so they are multiples of the greatest common divisor of all
     * sizes.
     */
    private final long granule;

    private long lowerBytes;
    private long bestBytes;
    private long[] best;
    private int unsuccessful;

    /**
     * @param lowerBytes a lower bound of all plans
     * @param best offsets of a valid plan
     * @param stop whether to end
     */
    Minimizer(
            Sections sections,
            long lowerBytes,
            long[] best,
            SearchLimits limits,
            BooleanSupplier stop) {
        this.sections = sections;
        this.lowerBytes = lowerBytes;
        this.best = best;
        this.stop = stop;
        bestBytes = totalBytes(best);
        goalBytes = limits.capacityBytes();
        mostNodes = limits.nodes();
        lowerAttempts = new CapacitySearch(sections, stop);
        planAttempts = new CapacitySearch(sections, stop);
        orders = orders(sections);
        long divisor = 0;
        for (long bytes : sections.bytes) {
            divisor = LongMath.gcd(divisor, bytes);
        }
        granule = Math.max(1, divisor);
    }

    /**
     * The orders in which candidates for a place are tried, those that MiniMalloc tries in turn
     * (Moffitt 2023, section 5): long-lived units first, and units of crowded sections first, the
     * large or the long-lived ones among them.
     */
    private static List<Comparator<Integer>> orders(Sections sections) {
        long[] crowd = new long[sections.units];
        for (int[] members : sections.members) {
            long breadth = Arrays.stream(members).mapToLong(unit -> sections.bytes[unit]).sum();
            for (int unit : members) {
                crowd[unit] = Math.max(crowd[unit], breadth);
            }
        }
        Comparator<Integer> number = Comparator.naturalOrder();
        Comparator<Integer> length = Comparator.comparingLong(unit -> -sections.length[unit]);
        Comparator<Integer> area =
                Comparator.comparingDouble(
                        unit -> -(double) sections.length[unit] * sections.bytes[unit]);
        Comparator<Integer> byCrowd = Comparator.comparingLong(unit -> -crowd[unit]);
        return ImmutableList.of(
                length.thenComparing(area).thenComparing(number),
                byCrowd.thenComparing(area).thenComparing(length).thenComparing(number),
                byCrowd.thenComparing(length).thenComparing(area).thenComparing(number));
    }

    private long totalBytes(long[] offsets) {
        long total = 0;
        for (int unit = 0; unit < sections.units; unit++) {
            total = Math.max(total, offsets[unit] + sections.bytes[unit]);
        }
        return total;
    }

    /** Returns the number of examined partial plans. */
    long nodes() {
        return lowerAttempts.nodes() + planAttempts.nodes();
    }

    long lowerBytes() {
        return lowerBytes;
    }

    long bestBytes() {
        return bestBytes;
    }

    /** Returns the offset in bytes of every unit in the best plan. */
    long[] best() {
        return best;
    }

    /** Returns whether there is nothing left to search for. */
    boolean closed() {
        return bestBytes <= lowerBytes
                || (goalBytes.isPresent()
                        && (bestBytes <= goalBytes.getAsLong()
                                || lowerBytes > goalBytes.getAsLong()));
    }

    @Override
    public void run() {
        for (int turn = 0; !closed() && !stop.getAsBoolean() && nodes() < mostNodes; turn++) {
            boolean lower = goalBytes.isEmpty() && turn % 2 == 0;
            int attempt = goalBytes.isPresent() ? turn : turn / 2;
            long target = goalBytes.orElseGet(() -> lower ? lowerBytes : smallerBytes());
            CapacitySearch attempts = lower ? lowerAttempts : planAttempts;
            Outcome outcome =
                    attempts.run(target, orders.get(attempt % orders.size()), nodesOf(attempt));
            if (outcome == Outcome.FOUND) {
                best = attempts.offsets();
                bestBytes = totalBytes(best);
            } else if (outcome == Outcome.IMPOSSIBLE) {
                long next = Math.floorDiv(target, granule) * granule + granule;
                lowerBytes = Math.min(bestBytes, Math.max(lowerBytes, next));
            }
            if (!lower) {
                unsuccessful = outcome == Outcome.FOUND ? 0 : unsuccessful + 1;
            }
        }
    }

    private long nodesOf(int attempt) {
        long nodes = NODES_PER_UNIT * sections.units * luby(attempt + 1);
        return Math.min(nodes, mostNodes - nodes());
    }

    /** Returns a capacity halfway down at first, closer to the best plan if that is too hard. */
    private long smallerBytes() {
        long open = bestBytes - lowerBytes;
        long step = open >> Math.min(62, 1 + unsuccessful / orders.size());
        return bestBytes - Math.max(granule, step);
    }

    /** The series 1 1 2 1 1 2 4 1 1 2 … (Luby, Sinclair and Zuckerman 1993), from 1 on. */
    private static long luby(int index) {
        int block = 32 - Integer.numberOfLeadingZeros(index);
        int full = (1 << block) - 1;
        return index == full ? 1L << (block - 1) : luby(index - full / 2);
    }
}
