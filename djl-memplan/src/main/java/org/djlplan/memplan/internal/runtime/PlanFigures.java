package org.djlplan.memplan.internal.runtime;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.report.PlanReport;

/** The figures of a plan in use, for reports. */
public final class PlanFigures {

    private PlanFigures() {}

    /**
     * Returns the figures of a plan.
     *
     * @param plan empty if there is none
     * @param inputOutputBytes memory that the engine still allocates itself per interpreter
     */
    public static PlanReport.Plan of(Optional<EvaluatedPlan> plan, long inputOutputBytes) {
        if (plan.isEmpty()) {
            return new PlanReport.Plan("", 0, 0, 0, 0, 0, false, inputOutputBytes);
        }
        EvaluatedPlan used = plan.get();
        return new PlanReport.Plan(
                used.strategy(),
                used.plan().problem().records().size(),
                used.aliasedTensors(),
                used.naiveBytes(),
                used.lowerBoundBytes(),
                used.arenaBytes(),
                used.provedMinimal(),
                inputOutputBytes);
    }

    /**
     * Returns the figures of the activations in a streaming plan.
     *
     * @param inputOutputBytes memory that the engine still allocates itself
     */
    public static PlanReport.Plan of(StreamingPlan plan, long inputOutputBytes) {
        PlanningProblem activations = plan.problem().activations();
        List<UsageRecord> records = activations.records();
        return new PlanReport.Plan(
                plan.strategy(),
                records.size(),
                records.size() - activations.units().size(),
                UsageRecords.naiveBytes(records),
                LowerBounds.offsetBytes(records),
                plan.arenaBytes(),
                false,
                inputOutputBytes);
    }
}
