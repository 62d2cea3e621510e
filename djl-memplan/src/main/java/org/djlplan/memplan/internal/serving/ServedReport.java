package org.djlplan.memplan.internal.serving;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.report.DelegationReportRecord;
import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.runtime.PlanFigures;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.DelegationChoice;

/** The report of a model that is served whole. */
final class ServedReport {

    private ServedReport() {}

    /**
     * Returns the report.
     *
     * @param serving describes the interpreter that serves
     * @param interpreters all of the model's interpreters
     * @param leftToEngine why nothing is planned any more; empty if plans are made
     */
    static PlanReport of(
            ModelInterpreter.Description serving,
            List<ModelInterpreter> interpreters,
            PlannedRuns runs,
            Optional<DelegationReport> delegation,
            Optional<String> leftToEngine) {
        List<PlanReport.Interpreter> reported = new ArrayList<>();
        for (ModelInterpreter each : interpreters) {
            reported.add(
                    new PlanReportRecord.Interpreter(
                            each.shapes(),
                            each.description().ownBytes(),
                            each.description().arenaBytes()));
        }
        PlanReport report =
                new PlanReportRecord(
                        "TFLite",
                        serving.unplannedReason(),
                        PlanFigures.of(serving.plan(), serving.ownBytes()),
                        reported,
                        new PlanReportRecord.Predictions(
                                runs.predictions(), runs.unplanned(), 0, 0, 0, 0),
                        delegation,
                        Optional.empty());
        return leftToEngine.isPresent()
                ? PlanReportRecord.stopped(report, leftToEngine.get())
                : report;
    }

    /**
     * Returns what is delegated.
     *
     * @param operators number of operators of the model
     * @param serving describes the interpreter that serves
     * @param deferred whether its delegate will run operators only later
     * @param candidates the choice that serves
     * @param otherShapes a text about inputs of other shapes; empty if there is nothing to say
     */
    static DelegationReport delegation(
            ServedDelegation delegation,
            int operators,
            ModelInterpreter.Description serving,
            boolean deferred,
            ServedCandidates candidates,
            Optional<String> otherShapes) {
        DelegationChoice choice = candidates.choice();
        return new DelegationReportRecord(
                delegation.name(),
                operators,
                deferred
                        ? candidates.governor().serving().operators().size()
                        : serving.delegatedOperators(),
                serving.partitions(),
                candidates.governor().serving().threads(),
                choice.origin(),
                choice.reason(),
                choice.id(delegation.engine(), delegation.name()),
                choice.outputs(),
                otherShapes.orElse(""));
    }

    /** Records the delegation in JDK Flight Recorder. */
    static void record(String model, PlanReport report) {
        report.delegation()
                .ifPresent(
                        now ->
                                FlightRecord.delegation(
                                        model,
                                        now.operators(),
                                        now.delegatedOperators(),
                                        now.threads(),
                                        now.origin().name()));
    }
}
