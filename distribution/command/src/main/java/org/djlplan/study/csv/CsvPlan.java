package org.djlplan.study.csv;

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
        ids = ImmutableMap.copyOf(ids);
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

    /**
     * Returns the plan as a file; the column {@code alias} names the tensor that stands for the
     * alias class.
     */
    public String text() {
        StringBuilder text = new StringBuilder("id,lower,upper,size,offset,alias\n");
        for (UsageRecord record : problem.records()) {
            int tensor = record.tensor();
            int unit = problem.unitOf(tensor);
            text.append(ids.get(tensor)).append(',');
            text.append(record.first()).append(',').append(record.last() + 1L).append(',');
            text.append(record.bytes()).append(',').append(offsets.get(tensor)).append(',');
            text.append(unit == tensor ? "" : ids.get(unit)).append('\n');
        }
        return text.toString();
    }
}
