package org.djlplan.memplan.internal.report;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The implementation of {@link PlanReport}. */
public record PlanReportRecord(
        String engine,
        Optional<String> unplannedReason,
        PlanReport.Plan plan,
        List<PlanReport.Interpreter> interpreters,
        PlanReport.Predictions predictions,
        Optional<DelegationReport> delegation,
        Optional<BudgetReport> budget,
        Optional<String> unclosedReason,
        Optional<PlanReport.Peak> peak)
        implements PlanReport {

    public PlanReportRecord {
        interpreters = ImmutableList.copyOf(interpreters);
    }

    /** Creates the report of a model that is not imperative. */
    public PlanReportRecord(
            String engine,
            Optional<String> unplannedReason,
            PlanReport.Plan plan,
            List<PlanReport.Interpreter> interpreters,
            PlanReport.Predictions predictions,
            Optional<DelegationReport> delegation,
            Optional<BudgetReport> budget) {
        this(
                engine,
                unplannedReason,
                plan,
                interpreters,
                predictions,
                delegation,
                budget,
                Optional.empty(),
                Optional.empty());
    }

    /** Returns a report with the prediction that needed most memory. */
    public static PlanReport withPeak(PlanReport report, Optional<PlanReport.Peak> peak) {
        return copy(report, report.delegation(), report.budget(), report.unclosedReason(), peak);
    }

    /** Returns a report that says why intermediates of an imperative block are left to DJL. */
    public static PlanReport unclosed(PlanReport report, String reason) {
        return copy(
                report, report.delegation(), report.budget(), Optional.of(reason), report.peak());
    }

    /** Returns a report with a budget section. */
    public static PlanReport within(PlanReport report, BudgetReport limits) {
        return copy(
                report,
                report.delegation(),
                Optional.of(limits),
                report.unclosedReason(),
                report.peak());
    }

    /** Returns a report with a section on the choice of how the model runs. */
    public static PlanReport rewritten(PlanReport report, DelegationReport choice) {
        return copy(
                report,
                Optional.of(choice),
                report.budget(),
                report.unclosedReason(),
                report.peak());
    }

    private static PlanReport copy(
            PlanReport report,
            Optional<DelegationReport> delegation,
            Optional<BudgetReport> budget,
            Optional<String> unclosedReason,
            Optional<PlanReport.Peak> peak) {
        return new PlanReportRecord(
                report.engine(),
                report.unplannedReason(),
                report.plan(),
                report.interpreters(),
                report.predictions(),
                delegation,
                budget,
                unclosedReason,
                peak);
    }

    /** The implementation of {@link PlanReport.Plan}. */
    public record Plan(
            String strategy,
            int records,
            int inPlaceRecords,
            long naiveBytes,
            long lowerBoundBytes,
            long arenaBytes,
            boolean provedMinimal,
            long inputOutputBytes)
            implements PlanReport.Plan {

        /** The strategy of an arena without a plan: each tensor gets the lowest free place. */
        public static final String ONLINE = "first-fit";

        @Override
        public String toString() {
            if (strategy.equals(ONLINE)) {
                return String.format(
                        Locale.ROOT,
                        "%d tensors placed online (first fit) in an arena of %d bytes, %.2f of the"
                                + " %d bytes in use at once (%d naive)",
                        records,
                        arenaBytes,
                        (double) arenaBytes / Math.max(1, lowerBoundBytes),
                        lowerBoundBytes,
                        naiveBytes);
            }
            return strategy.isEmpty()
                    ? "no plan, " + inputOutputBytes + " bytes of inputs and outputs"
                    : records
                            + " tensors in an arena of "
                            + arenaBytes
                            + " bytes by "
                            + strategy
                            + (provedMinimal ? ", proved minimal" : "")
                            + " ("
                            + naiveBytes
                            + " naive, lower bound "
                            + lowerBoundBytes
                            + "), "
                            + inputOutputBytes
                            + " bytes of inputs and outputs";
        }
    }

    /** The implementation of {@link PlanReport.Predictions}. */
    public record Predictions(
            long total,
            long unplanned,
            long online,
            long unplannedAllocations,
            long recorded,
            long escaped)
            implements PlanReport.Predictions {

        @Override
        public String toString() {
            return total
                    + " predictions: "
                    + (total - unplanned - online)
                    + " by a plan, "
                    + online
                    + " online, "
                    + unplanned
                    + " outside of arenas; "
                    + recorded
                    + " recorded; allocations: "
                    + unplannedAllocations
                    + " outside of arenas, "
                    + escaped
                    + " escaped";
        }
    }

    /** The implementation of {@link PlanReport.Interpreter}. */
    public record Interpreter(List<List<Integer>> inputShapes, long ownBytes, long arenaBytes)
            implements PlanReport.Interpreter {

        @Override
        public String toString() {
            return "interpreter for "
                    + inputShapes
                    + ": "
                    + ownBytes
                    + " bytes of its own, "
                    + arenaBytes
                    + " of an arena";
        }
    }

    /** The implementation of {@link PlanReport.Peak}. */
    public record Peak(
            long predictionBytes, List<List<Long>> inputShapes, OptionalLong processBytes)
            implements PlanReport.Peak {

        public Peak {
            inputShapes = ImmutableList.copyOf(inputShapes);
        }

        @Override
        public String toString() {
            return "most memory of a prediction: "
                    + predictionBytes
                    + " bytes"
                    + (inputShapes.isEmpty() ? "" : ", with inputs of shapes " + inputShapes)
                    + (processBytes.isPresent()
                            ? "; of the process since the load: "
                                    + processBytes.getAsLong()
                                    + " bytes"
                            : "");
        }
    }

    /** Returns the report of a model that runs as stock. */
    public static PlanReport unplanned(String engine, String reason) {
        return new PlanReportRecord(
                engine,
                Optional.of(reason),
                PlanReport.Plan.NONE,
                List.of(),
                PlanReport.Predictions.NONE,
                Optional.empty(),
                Optional.empty());
    }

    /** Returns the report of a model that was planned and now runs as stock for a reason. */
    public static PlanReport stopped(PlanReport report, String reason) {
        return new PlanReportRecord(
                report.engine(),
                Optional.of(reason),
                report.plan(),
                report.interpreters(),
                report.predictions(),
                report.delegation(),
                report.budget(),
                report.unclosedReason(),
                report.peak());
    }

    @Override
    public boolean planned() {
        return unplannedReason.isEmpty();
    }

    @Override
    public String toJson() {
        return ReportJson.of(this);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(engine).append(": ");
        text.append(unplannedReason.map(why -> "as stock: " + why).orElse("planned"));
        text.append("\n  ").append(plan).append("\n  ").append(predictions);
        peak.ifPresent(each -> text.append("\n  ").append(each));
        interpreters.forEach(each -> text.append("\n  ").append(each));
        delegation.ifPresent(each -> text.append("\n  ").append(each));
        budget.ifPresent(each -> text.append("\n  ").append(each));
        unclosedReason.ifPresent(
                each -> text.append("\n  intermediates are left to DJL: ").append(each));
        return text.toString();
    }
}
