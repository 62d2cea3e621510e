package org.djlplan.study.strippacking;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.IntConsumer;

/**
 * Repairs a layout repeatedly so that it fits into a smaller arena. It first aims at the lower
 * bound; after each failure, at a reduction half as large. It ends if an eighth of the way to the
 * lower bound fails, or the cost limit is reached.
 */
final class Tightening {

    /** The smallest tried part of the way to the lower bound. */
    private static final int SMALLEST_PART = 8;

    private final MomentTable.Neighbours neighbours;
    private final long mostCost;
    private long cost;

    /**
     * @param mostCost limit of the number of visited units
     */
    Tightening(MomentTable.Neighbours neighbours, long mostCost) {
        this.neighbours = neighbours;
        this.mostCost = mostCost;
    }

    /** Returns {@code layout} or a smaller one. */
    MomentTable.Layout of(MomentTable.Layout layout) {
        MomentTable.Layout best = layout;
        for (int part = 1; part <= SMALLEST_PART && cost < mostCost && !best.isMinimal(); ) {
            MomentTable timeline = best.timeline();
            long step = (best.totalBytes() - timeline.boundBytes() + part - 1) / part;
            Repair repair =
                    new Repair(timeline, neighbours, best.offsets(), best.totalBytes() - step);
            boolean smaller = repair.succeeds((mostCost - cost) / 2);
            cost += repair.cost();
            if (smaller) {
                best =
                        new MomentTable.Layout(
                                timeline, repair.offsets(), totalBytes(timeline, repair));
            } else {
                part *= 2;
            }
        }
        return best;
    }

    /** Returns the number of visited units, counting repeated visits. */
    long cost() {
        return cost;
    }

    private static long totalBytes(MomentTable timeline, Repair repair) {
        long[] offsets = repair.offsets();
        long totalBytes = 0;
        for (int unit = 0; unit < offsets.length; unit++) {
            totalBytes = Math.max(totalBytes, offsets[unit] + timeline.bytes[unit]);
        }
        return totalBytes;
    }

    /**
     * Moves the units above a wanted arena size to places below it, and the units in their way
     * elsewhere: an ejection chain.
     *
     * <p>The unit with the largest area (size · life) goes first, to the place where units with the
     * least area are in its way. Units that were moved often weigh more, so that the chain does not
     * run in circles. A step takes O(k log k) for k overlapping units.
     */
    static final class Repair {

        /** The weight that a unit gains by being moved once, as a fraction of its area. */
        private static final double STUBBORNNESS = 2;

        private final MomentTable timeline;
        private final MomentTable.Neighbours neighbours;
        private final long[] offsets;
        private final long wantedBytes;
        private final boolean[] placed;
        private final int[] moves;
        private final PriorityQueue<Integer> waiting =
                new PriorityQueue<>(
                        Comparator.comparingDouble(this::area)
                                .reversed()
                                .thenComparing(Comparator.naturalOrder()));

        /** Placed units that overlap the unit to be placed. */
        private int[] inTheWay = new int[64];

        private int count;
        private long cost;

        /**
         * @param offsets of every unit of the timeline, a valid plan; not changed
         * @param wantedBytes wanted size of the arena
         */
        Repair(
                MomentTable timeline,
                MomentTable.Neighbours neighbours,
                long[] offsets,
                long wantedBytes) {
            this.timeline = timeline;
            this.neighbours = neighbours;
            this.offsets = offsets.clone();
            this.wantedBytes = wantedBytes;
            placed = new boolean[offsets.length];
            moves = new int[offsets.length];
            for (int unit = 0; unit < offsets.length; unit++) {
                placed[unit] = top(unit) <= wantedBytes;
                if (!placed[unit]) {
                    waiting.add(unit);
                }
            }
        }

        /**
         * Moves units until the arena has the wanted size; returns whether it has.
         *
         * @param mostCost limit of the number of visited units
         */
        boolean succeeds(long mostCost) {
            while (!waiting.isEmpty()) {
                int unit = waiting.poll();
                collect(unit);
                if (cost > mostCost || !place(unit)) {
                    return false;
                }
            }
            return true;
        }

        /** Returns the offset in bytes of every unit; valid if the repair succeeded. */
        long[] offsets() {
            return offsets;
        }

        /** Returns the number of visited units, counting repeated visits. */
        long cost() {
            return cost;
        }

        private void collect(int unit) {
            count = 0;
            IntConsumer add =
                    other -> {
                        if (placed[other]) {
                            if (count == inTheWay.length) {
                                inTheWay = Arrays.copyOf(inTheWay, 2 * count);
                            }
                            inTheWay[count++] = other;
                        }
                    };
            neighbours.forEach(unit, add);
            cost += 16 + 4L * count;
        }

        private boolean place(int unit) {
            long highestBytes = wantedBytes - timeline.bytes[unit];
            int indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(2 * count + 1);
            if (highestBytes < 0 || wantedBytes >= 1L << (Long.SIZE - 1 - indexBits)) {
                return false;
            }
            long offset =
                    cheapest(highestBytes, events(timeline.bytes[unit], indexBits), indexBits);
            for (int i = 0; i < count; i++) {
                int other = inTheWay[i];
                if (offsets[other] < offset + timeline.bytes[unit] && offset < top(other)) {
                    placed[other] = false;
                    moves[other]++;
                    waiting.add(other);
                }
            }
            offsets[unit] = offset;
            placed[unit] = true;
            return true;
        }

        /**
         * Returns, in order, the offsets at which another unit begins or ceases to be in the way;
         * the lowest bits have twice the index of that unit, plus one at its end.
         */
        private long[] events(long bytes, int indexBits) {
            long[] events = new long[2 * count];
            for (int i = 0; i < count; i++) {
                long from = Math.max(0, offsets[inTheWay[i]] - bytes + 1);
                events[2 * i] = from << indexBits | 2L * i;
                events[2 * i + 1] = top(inTheWay[i]) << indexBits | 2L * i + 1;
            }
            Arrays.sort(events);
            return events;
        }

        /** Returns the lowest offset with the least weight in the way. */
        private long cheapest(long highestBytes, long[] events, int indexBits) {
            double weight = 0;
            double least = Double.POSITIVE_INFINITY;
            long found = 0;
            int inWay = 0;
            long at = 0;
            for (int i = 0; i <= events.length; i++) {
                long next = i == events.length ? Long.MAX_VALUE : events[i] >> indexBits;
                if (next > at) {
                    double here = inWay == 0 ? 0 : weight;
                    if (here < least) {
                        least = here;
                        found = at;
                    }
                    if (next > highestBytes || inWay == 0) {
                        break;
                    }
                    at = next;
                }
                int index = (int) (events[i] & (1L << indexBits) - 1);
                boolean begins = index % 2 == 0;
                double change = weight(inTheWay[index / 2]);
                weight += begins ? change : -change;
                inWay += begins ? 1 : -1;
            }
            return found;
        }

        private double weight(int unit) {
            return area(unit) * (1 + STUBBORNNESS * moves[unit]);
        }

        private double area(int unit) {
            return (double) timeline.bytes[unit] * timeline.life(unit);
        }

        private long top(int unit) {
            return offsets[unit] + timeline.bytes[unit];
        }
    }
}
