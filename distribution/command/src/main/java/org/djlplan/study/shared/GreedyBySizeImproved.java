package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Greedy by Size Improved (Pisarchyk and Lee 2020, section 4.4): one stage per positional maximum,
 * for the units that are at most as large as this maximum but larger than the next one. Within a
 * stage, the pair of a unit and an object with the smallest idle gap in time is joined first; ties
 * go to the larger unit, then the smaller tensor id, then the lower number of the object. If no
 * object is free for any unit of the stage, the largest unit gets a new one.
 *
 * <p>TensorFlow Lite's GPU delegate calls this {@code GREEDY_BY_SIZE}; on equal gaps it prefers the
 * object that reached that gap first.
 *
 * <p>The nearest object of each unit is kept up to date: O(s²) for a stage of s units, and O(k log
 * n) for each unit whose nearest object is taken, for k objects.
 */
final class GreedyBySizeImproved {

    private GreedyBySizeImproved() {}

    /** Returns the number of every unit's object, by tensor id. */
    static Map<Integer, Integer> objects(List<UsageRecord> units) {
        ImmutableList<Long> maxima = LowerBounds.positionalMaxima(units);
        List<UsageRecord> bySize = ImmutableList.sortedCopyOf(UnitOrders::bySize, units);
        List<Schedule> objects = new ArrayList<>();
        Map<Integer, Integer> chosen = new HashMap<>();
        int from = 0;
        for (int position = 0; position < maxima.size(); position++) {
            long next = position + 1 < maxima.size() ? maxima.get(position + 1) : 0;
            int to = from;
            while (to < bySize.size() && bySize.get(to).bytes() > next) {
                to++;
            }
            new Stage(bySize.subList(from, to), objects).place(chosen);
            from = to;
        }
        return chosen;
    }

    /** The units of one stage, largest first. */
    private static final class Stage {

        private final List<UsageRecord> units;
        private final List<Schedule> objects;

        /** Per unit: the nearest free object, and its idle gap; no object if the gap is NONE. */
        private final int[] nearest;

        private final long[] idle;
        private final boolean[] placed;

        private static final long NONE = Long.MAX_VALUE;

        Stage(List<UsageRecord> units, List<Schedule> objects) {
            this.units = units;
            this.objects = objects;
            nearest = new int[units.size()];
            idle = new long[units.size()];
            placed = new boolean[units.size()];
        }

        void place(Map<Integer, Integer> chosen) {
            for (int unit = 0; unit < units.size(); unit++) {
                findNearest(unit);
            }
            for (int left = units.size(); left > 0; left--) {
                int unit = next();
                if (idle[unit] == NONE) {
                    nearest[unit] = objects.size();
                    objects.add(new Schedule());
                }
                int object = nearest[unit];
                placed[unit] = true;
                objects.get(object).add(units.get(unit));
                chosen.put(units.get(unit).tensor(), object);
                for (int other = 0; other < placed.length; other++) {
                    if (!placed[other]) {
                        update(other, object, units.get(unit));
                    }
                }
            }
        }

        /** Updates the nearest object of a unit after another unit was added to an object. */
        private void update(int unit, int object, UsageRecord added) {
            UsageRecord own = units.get(unit);
            if (!own.overlaps(added)) {
                long gap = Math.max(added.first() - own.last(), own.first() - added.last());
                if (gap <= idle[unit]) {
                    compare(unit, object);
                }
            } else if (nearest[unit] == object) {
                findNearest(unit);
            }
        }

        /** Returns the unit with the smallest gap, on a tie the largest unit. */
        private int next() {
            int best = -1;
            for (int unit = 0; unit < placed.length; unit++) {
                if (!placed[unit] && (best < 0 || idle[unit] < idle[best])) {
                    best = unit;
                }
            }
            return best;
        }

        private void findNearest(int unit) {
            idle[unit] = NONE;
            nearest[unit] = -1;
            for (int object = 0; object < objects.size(); object++) {
                compare(unit, object);
            }
        }

        private void compare(int unit, int object) {
            OptionalLong gap = objects.get(object).idle(units.get(unit));
            if (gap.isPresent()
                    && (gap.getAsLong() < idle[unit]
                            || (gap.getAsLong() == idle[unit] && object < nearest[unit]))) {
                idle[unit] = gap.getAsLong();
                nearest[unit] = object;
            }
        }
    }
}
