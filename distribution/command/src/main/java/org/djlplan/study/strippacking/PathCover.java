package org.djlplan.study.strippacking;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.shared.NearestFree;

/**
 * Buffer allocation as path cover (LeapMind 2021): units, in order of their first operator, go into
 * any group whose units they do not overlap, otherwise into a new one, so that the number of groups
 * equals the largest number of overlapping units; then the groups are stacked on the skyline one
 * after another. The arena is never larger than twice the product of the largest overlap and the
 * largest size.
 *
 * <p>The rule defines neither which group a unit goes into nor the order in which groups are
 * stacked. By default a unit goes into the oldest group, and groups are stacked in the order of
 * their creation. Two variants, alone or together, are used instead if the arena is then smaller: a
 * unit goes into the group whose last unit is nearest in size; groups are stacked by their largest
 * unit, largest first.
 */
public final class PathCover implements OffsetStrategy {

    @Override
    public String name() {
        return "path-cover";
    }

    @Override
    public int largestProblem() {
        return 100_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        List<UsageRecord> units = problem.units();
        MomentTable timeline = new MomentTable(units);
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
        MomentTable.Layout best =
                Collections.min(layouts, Comparator.comparingLong(MomentTable.Layout::totalBytes));
        return OffsetPlan.ofUnits(name(), problem, best.byUnit());
    }
}
