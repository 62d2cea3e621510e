package org.djlplan.memplan.internal.plan;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Map;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * An assignment of an offset in one arena to every unit of a problem. It is not necessarily valid:
 * see {@link PlanValidator}.
 *
 * @param strategy name of the strategy
 * @param problem that was planned
 * @param unitOffsets offset in bytes of every unit, by the unit's tensor id
 */
public record OffsetPlan(String strategy, PlanningProblem problem, Map<Integer, Long> unitOffsets) {

    public OffsetPlan {
        unitOffsets = ImmutableMap.copyOf(unitOffsets);
        for (UsageRecord unit : problem.units()) {
            checkArgument(unitOffsets.containsKey(unit.tensor()), "no offset for %s", unit);
        }
        checkArgument(unitOffsets.size() == problem.units().size(), "offsets without a unit");
    }

    public long offsetOf(int tensor) {
        return unitOffsets.get(problem.unitOf(tensor));
    }

    /** Returns the size in bytes of the arena. */
    public long totalBytes() {
        long total = 0;
        for (UsageRecord unit : problem.units()) {
            total = Math.max(total, unitOffsets.get(unit.tensor()) + unit.bytes());
        }
        return total;
    }
}
