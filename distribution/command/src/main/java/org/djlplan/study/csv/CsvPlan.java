package org.djlplan.study.csv;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Map;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * A plan as stored in a file. It has one offset per tensor, not per unit, so it may be an invalid
 * plan.
 *
 * @param problem that was planned, with alias classes as claimed by the file
 * @param offsets offset in bytes of every tensor
 * @param ids the name of every tensor
 */
public record CsvPlan(
        PlanningProblem problem, Map<Integer, Long> offsets, Map<Integer, String> ids) {

    public CsvPlan {
        offsets = ImmutableMap.copyOf(offsets);
        ids = new CsvRecords(problem.records(), ids).ids();
        for (UsageRecord record : problem.records()) {
            checkArgument(offsets.containsKey(record.tensor()), "no offset for %s", record);
        }
    }

    /** Returns {@code plan} with the names of its tensors. */
    public static CsvPlan of(OffsetPlan plan, Map<Integer, String> ids) {
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        plan.problem().records().forEach(r -> offsets.put(r.tensor(), plan.offsetOf(r.tensor())));
        return new CsvPlan(plan.problem(), offsets.buildOrThrow(), ids);
    }

    /** Returns the end in bytes of the last tensor, saturated. */
    public long totalBytes() {
        long total = 0;
        for (UsageRecord record : problem.records()) {
            long offset = offsets.get(record.tensor());
            total = Math.max(total, LongMath.saturatedAdd(offset, record.bytes()));
        }
        return total;
    }
}
