package org.djlplan.delegation.choice;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Searches the union of units that costs least.
 *
 * <p>Up to {@value #ENUMERATED} units, all unions are looked at. Of more, it goes downhill from
 * nothing and from everything: it puts in or takes out the one unit that brings most, or two at
 * once if no single one brings anything, until nothing does. Costs are nearly additive, which makes
 * that end at or near the best.
 */
final class BestUnion {

    /** All unions of so many units are looked at: 16384. */
    static final int ENUMERATED = 14;

    private final int units;
    private final ToDoubleFunction<BitSet> cost;
    private final Map<BitSet, Double> known = new HashMap<>();

    private BestUnion(int units, ToDoubleFunction<BitSet> cost) {
        this.units = units;
        this.cost = cost;
    }

    /**
     * Returns the best union of the units 0 to {@code units - 1}.
     *
     * @param cost of a union, which it must not change
     */
    static BitSet of(int units, ToDoubleFunction<BitSet> cost) {
        return units <= ENUMERATED ? enumerated(units, cost) : downhill(units, cost);
    }

    /** Returns the best of all unions. Equal costs: the one that begins with fewer units. */
    static BitSet enumerated(int units, ToDoubleFunction<BitSet> cost) {
        BitSet best = new BitSet();
        double least = cost.applyAsDouble(best);
        for (long members = 1; members < 1L << units; members++) {
            BitSet union = BitSet.valueOf(new long[] {members});
            double found = cost.applyAsDouble(union);
            if (found < least) {
                least = found;
                best = union;
            }
        }
        return best;
    }

    /** Returns the best union found downhill. */
    static BitSet downhill(int units, ToDoubleFunction<BitSet> cost) {
        BestUnion search = new BestUnion(units, cost);
        BitSet everything = new BitSet();
        everything.set(0, units);
        BitSet fromNothing = search.descend(new BitSet());
        BitSet fromEverything = search.descend(everything);
        return search.cost(fromEverything) < search.cost(fromNothing)
                ? fromEverything
                : fromNothing;
    }

    private BitSet descend(BitSet start) {
        BitSet here = start;
        while (true) {
            BitSet next = bestFlip(here);
            if (cost(next) >= cost(here)) {
                next = firstBetterPair(here);
            }
            if (cost(next) >= cost(here)) {
                return here;
            }
            here = next;
        }
    }

    private BitSet bestFlip(BitSet from) {
        BitSet best = from;
        for (int unit = 0; unit < units; unit++) {
            BitSet near = flipped(from, List.of(unit));
            best = cost(near) < cost(best) ? near : best;
        }
        return best;
    }

    private BitSet firstBetterPair(BitSet from) {
        for (int first = 0; first < units; first++) {
            for (int second = first + 1; second < units; second++) {
                BitSet near = flipped(from, List.of(first, second));
                if (cost(near) < cost(from)) {
                    return near;
                }
            }
        }
        return from;
    }

    private static BitSet flipped(BitSet from, List<Integer> places) {
        BitSet near = (BitSet) from.clone();
        places.forEach(near::flip);
        return near;
    }

    private double cost(BitSet union) {
        return known.computeIfAbsent(union, cost::applyAsDouble);
    }
}
