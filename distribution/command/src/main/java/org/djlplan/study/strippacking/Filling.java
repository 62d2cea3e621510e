package org.djlplan.study.strippacking;

import java.util.Arrays;
import java.util.OptionalInt;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * One pass that places all units from the bottom up, valley by valley. A valley is filled with the
 * unit of the highest priority that fits into it; if slack is scarce there, units that are alive at
 * the moment of least slack come first. If no unit fits into it, the valley is raised to its lower
 * neighbour, and the space below is wasted.
 *
 * <p>If a moment has wasted more than its slack, the unplaced units that are alive there were
 * blocked by neighbours placed too early; they get a higher priority in the next pass.
 */
final class Filling {

    /**
     * Limit of the adjustments of priorities in a pass, because each may visit all units alive at a
     * moment.
     */
    private static final int MOST_LESSONS = 64;

    private final MomentTable timeline;
    private final Priorities priorities;
    private final Unplaced unplaced;
    private final Slack slack;
    private final Valleys skyline;
    private final long[] offsets;
    private final long scarceBytes;
    private final boolean[] blocked;
    private int lessons;
    private long totalBytes;

    private Filling(MomentTable timeline, Priorities priorities) {
        this.timeline = timeline;
        this.priorities = priorities;
        unplaced = new Unplaced(timeline, priorities.priorities());
        slack = new Slack(timeline);
        skyline = new Valleys(timeline.moments);
        offsets = new long[timeline.bytes.length];
        blocked = new boolean[offsets.length];
        scarceBytes = priorities.scarceBytes();
    }

    /**
     * Places all units of {@code timeline}, and adjusts {@code priorities}.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    static Filling of(MomentTable timeline, Priorities priorities) {
        Filling filling = new Filling(timeline, priorities);
        filling.place();
        return filling;
    }

    /** Returns the places of the units. */
    MomentTable.Layout layout() {
        return new MomentTable.Layout(timeline, offsets, totalBytes);
    }

    /** Returns the number of search steps. */
    long visits() {
        return unplaced.visits();
    }

    private void place() {
        int left = offsets.length;
        while (left > 0) {
            OptionalInt unit = choose();
            if (unit.isPresent()) {
                put(unit.getAsInt());
                left--;
            } else {
                raise();
            }
        }
    }

    private OptionalInt choose() {
        int from = skyline.from();
        int to = skyline.to();
        OptionalInt scarce = slack.leastBelow(from, to, scarceBytes);
        if (scarce.isPresent()) {
            OptionalInt needed = unplaced.within(from, scarce.getAsInt(), to);
            if (needed.isPresent()) {
                return needed;
            }
        }
        return unplaced.within(from, to);
    }

    private void put(int unit) {
        unplaced.remove(unit);
        offsets[unit] = skyline.heightBytes();
        long topBytes = UsageRecords.addBytes(offsets[unit], timeline.bytes[unit]);
        totalBytes = Math.max(totalBytes, topBytes);
        skyline.put(timeline.from[unit], timeline.to[unit], topBytes);
    }

    private void raise() {
        int from = skyline.from();
        int to = skyline.to();
        slack.waste(from, to, skyline.wallBytes() - skyline.heightBytes());
        if (lessons < MOST_LESSONS && !slack.suffices()) {
            slack.leastBelow(from, to, 0).ifPresent(this::learn);
        }
        skyline.raise();
    }

    private void learn(int moment) {
        lessons++;
        unplaced.forEachAlive(
                moment,
                unit -> {
                    if (!blocked[unit]) {
                        blocked[unit] = true;
                        priorities.raise(unit);
                    }
                });
    }

    /**
     * The priorities of units: size^a · life^b, raised for units that were blocked. Priorities are
     * stored as fixed-point logarithms, so that they are the same on every machine.
     */
    static final class Priorities {

        /** Fixed-point steps per factor of two. */
        private static final int DOUBLING = 1 << 16;

        /** Factor by which being blocked once raises a priority: 8. */
        private static final int BLOCKED = 3 * DOUBLING;

        private static final double LOG_2 = StrictMath.log(2);

        private final int[] priorities;
        private final long scarceBytes;

        /**
         * @param sizeExponent exponent of sizes, at most 2
         * @param lifeExponent exponent of lifetimes, in moments, at most 3
         * @param scarceShare slack below this fraction of the lower bound is scarce
         */
        static Priorities of(
                MomentTable timeline, int sizeExponent, int lifeExponent, double scarceShare) {
            int[] priorities = new int[timeline.bytes.length];
            Arrays.setAll(
                    priorities,
                    unit ->
                            1
                                    + sizeExponent * doublings(timeline.bytes[unit])
                                    + lifeExponent * doublings(timeline.life(unit)));
            return new Priorities(priorities, (long) (timeline.boundBytes() * scarceShare));
        }

        /**
         * @param priorities positive
         * @param scarceBytes slack below this is scarce
         */
        Priorities(int[] priorities, long scarceBytes) {
            this.priorities = priorities;
            this.scarceBytes = scarceBytes;
        }

        private static int doublings(long value) {
            return (int) (StrictMath.log((double) value) / LOG_2 * DOUBLING);
        }

        /** Returns the priority of every unit, positive. */
        int[] priorities() {
            return priorities.clone();
        }

        /** Returns the slack in bytes below which units alive at a moment are preferred. */
        long scarceBytes() {
            return scarceBytes;
        }

        /** Raises the priority of a unit that was blocked. */
        void raise(int unit) {
            priorities[unit] += BLOCKED;
        }
    }
}
