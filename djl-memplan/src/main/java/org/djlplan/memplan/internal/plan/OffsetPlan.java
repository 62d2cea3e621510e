package org.djlplan.memplan.internal.plan;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
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

    /**
     * Creates a plan from offsets in the order of {@link PlanningProblem#units()}.
     *
     * @param offsets offset in bytes of every unit
     */
    public static OffsetPlan ofUnits(String strategy, PlanningProblem problem, long[] offsets) {
        List<UsageRecord> units = problem.units();
        checkArgument(offsets.length == units.size(), "%s offsets", offsets.length);
        ImmutableMap.Builder<Integer, Long> byTensor =
                ImmutableMap.builderWithExpectedSize(offsets.length);
        for (int i = 0; i < offsets.length; i++) {
            byTensor.put(units.get(i).tensor(), offsets[i]);
        }
        return new OffsetPlan(strategy, problem, byTensor.buildOrThrow());
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
