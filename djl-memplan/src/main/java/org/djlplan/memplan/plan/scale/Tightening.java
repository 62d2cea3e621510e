package org.djlplan.memplan.plan.scale;

import java.util.Arrays;

/**
 * Repairs a layout again and again, each time for a smaller arena: first the lower bound, then half
 * the way to it, then a quarter, until nothing helps or it has cost enough.
 */
final class Tightening {

    /** The smallest part of the way to the lower bound that is tried. */
    private static final int SMALLEST_PART = 8;

    private final Neighbours neighbours;
    private final long mostCost;
    private long cost;

    /**
     * @param mostCost limits how many units are looked at in all
     */
    Tightening(Neighbours neighbours, long mostCost) {
        this.neighbours = neighbours;
        this.mostCost = mostCost;
    }

    /** Returns {@code layout} or a smaller one. */
    Layout of(Layout layout) {
        Layout best = layout;
        for (int part = 1; part <= SMALLEST_PART && cost < mostCost && !best.isMinimal(); ) {
            Timeline timeline = best.timeline();
            long step = (best.totalBytes() - timeline.boundBytes() + part - 1) / part;
            Repair repair =
                    new Repair(timeline, neighbours, best.offsets(), best.totalBytes() - step);
            boolean smaller = repair.succeeds((mostCost - cost) / 2);
            cost += repair.cost();
            if (smaller) {
                best = new Layout(timeline, repair.offsets(), totalBytes(timeline, repair));
            } else {
                part *= 2;
            }
        }
        return best;
    }

    /** Returns how many units were looked at, each as often as it was. */
    long cost() {
        return cost;
    }

    private static long totalBytes(Timeline timeline, Repair repair) {
        long[] tops = repair.offsets().clone();
        Arrays.setAll(tops, unit -> tops[unit] + timeline.bytes[unit]);
        return Arrays.stream(tops).max().orElse(0);
    }
}
