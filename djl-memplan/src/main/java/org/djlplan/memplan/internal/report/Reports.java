package org.djlplan.memplan.internal.report;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.WeightIo;

/** Makes reports for common cases, and copies of reports with another part. */
public final class Reports {

    private Reports() {}

    /** Returns the report of a model that runs as stock. */
    public static PlanReport unplanned(String engine, String reason) {
        return new PlanReport(
                engine,
                Optional.of(reason),
                PlanReport.Plan.NONE,
                List.of(),
                PlanReport.Predictions.NONE,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** Returns the report of a model that was planned and now runs as stock for a reason. */
    public static PlanReport stopped(PlanReport report, String reason) {
        return copy(
                report,
                Optional.of(reason),
                report.delegation(),
                report.budget(),
                report.unclosedReason());
    }

    /** Returns a report with a budget section. */
    public static PlanReport within(PlanReport report, BudgetReport limits) {
        return copy(
                report,
                report.unplannedReason(),
                report.delegation(),
                Optional.of(limits),
                report.unclosedReason());
    }

    /**
     * Returns the report of a PyTorch model with further sections.
     *
     * @param choice how the model runs
     * @param unclosedReason why intermediates of an imperative block are left to DJL
     */
    public static PlanReport with(
            PlanReport report, Optional<DelegationReport> choice, Optional<String> unclosedReason) {
        return copy(report, report.unplannedReason(), choice, report.budget(), unclosedReason);
    }

    private static PlanReport copy(
            PlanReport report,
            Optional<String> unplannedReason,
            Optional<DelegationReport> delegation,
            Optional<BudgetReport> budget,
            Optional<String> unclosedReason) {
        return new PlanReport(
                report.engine(),
                unplannedReason,
                report.plan(),
                report.interpreters(),
                report.predictions(),
                delegation,
                budget,
                unclosedReason,
                report.peak());
    }

    /**
     * Returns the report of a model that fits into its budget completely.
     *
     * @param weightsBytes all weights, which are read directly from the file
     */
    public static BudgetReport whole(
            long budgetBytes, long leastBudgetBytes, long arenaBytes, long weightsBytes) {
        return new BudgetReport(
                budgetBytes,
                leastBudgetBytes,
                arenaBytes,
                weightsBytes,
                weightsBytes,
                0,
                0,
                0,
                0,
                0,
                0,
                OptionalLong.empty(),
                WeightIo.MMAP);
    }
}
