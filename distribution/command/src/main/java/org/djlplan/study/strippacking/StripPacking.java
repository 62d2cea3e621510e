package org.djlplan.study.strippacking;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.shared.NearestFree;

/** The published strategies of the family. */
public final class StripPacking {

    /**
     * Strip Packing Best-Fit (Sekiyama, Imamichi, Imai and Raymond 2018, <a
     * href="https://arxiv.org/abs/1804.10001">Profile-guided memory optimization for deep neural
     * networks</a>, section 3.2; after Burke, Kendall and Whitwell 2004).
     *
     * <ol>
     *   <li>Take the lowest offset line.
     *   <li>Of the units whose interval lies within the line, put the longest on it; ties by size,
     *       larger first, then by tensor id.
     *   <li>If there is none, lift the line to its lower neighbour and merge lines at one offset.
     * </ol>
     *
     * <p>Any line that is lower than both neighbours may be taken, because such lines do not affect
     * each other: so this is one pass of {@link Filling}, whatever the slack.
     */
    public static final OffsetStrategy BEST_FIT = strategy("best-fit", StripPacking::bestFit);

    /**
     * Places units with the longest intervals first: LeapMind's rule before 2021 (the rule that
     * {@link #PATH_COVER} replaces). Units by (length of interval, size), both descending, ties by
     * tensor id, are stacked on the skyline. On chains it builds staircases: each unit lies on the
     * previous one, although the units below have ended.
     */
    public static final OffsetStrategy LONGEST_FIRST =
            strategy("longest-first", timeline -> timeline.stack(UnitOrders::byLength));

    /**
     * Buffer allocation as path cover (LeapMind 2021): units, in order of their first operator, go
     * into any group whose units they do not overlap, otherwise into a new one, so that the number
     * of groups equals the largest number of overlapping units; then the groups are stacked on the
     * skyline one after another. The arena is never larger than twice the product of the largest
     * overlap and the largest size.
     *
     * <p>The rule defines neither which group a unit goes into nor the order in which groups are
     * stacked. By default a unit goes into the oldest group, and groups are stacked in the order of
     * their creation. Two variants, alone or together, are used instead if the arena is then
     * smaller: a unit goes into the group whose last unit is nearest in size; groups are stacked by
     * their largest unit, largest first.
     */
    public static final OffsetStrategy PATH_COVER = strategy("path-cover", StripPacking::pathCover);

    private StripPacking() {}

    private static OffsetStrategy strategy(
            String name, Function<MomentTable, MomentTable.Layout> packing) {
        return new OffsetStrategy(
                name,
                100_000,
                problem -> packing.apply(new MomentTable(problem.units())).byTensor());
    }

    private static MomentTable.Layout bestFit(MomentTable timeline) {
        int[] order = timeline.sorted(UnitOrders::byLength);
        int[] priorities = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            priorities[order[i]] = order.length - i;
        }
        return Filling.of(timeline, new Filling.Priorities(priorities, Long.MIN_VALUE)).layout();
    }

    private static MomentTable.Layout pathCover(MomentTable timeline) {
        List<UsageRecord> units = timeline.units;
        List<MomentTable.Layout> layouts = new ArrayList<>();
        for (ToLongFunction<UsageRecord> size :
                List.<ToLongFunction<UsageRecord>>of(unit -> 0, UsageRecord::bytes)) {
            Map<Integer, Integer> groups =
                    NearestFree.objects(units, size, (before, added) -> added);
            Map<Integer, Long> largest = new HashMap<>();
            units.forEach(
                    unit -> largest.merge(groups.get(unit.tensor()), unit.bytes(), Math::max));
            Comparator<UsageRecord> asMade =
                    Comparator.<UsageRecord>comparingInt(unit -> groups.get(unit.tensor()))
                            .thenComparing(UnitOrders::byFirst);
            Comparator<UsageRecord> byLargest =
                    Comparator.comparingLong(unit -> -largest.get(groups.get(unit.tensor())));
            layouts.add(timeline.stack(asMade));
            layouts.add(timeline.stack(byLargest.thenComparing(asMade)));
        }
        return Collections.min(layouts, Comparator.comparingLong(MomentTable.Layout::totalBytes));
    }
}
