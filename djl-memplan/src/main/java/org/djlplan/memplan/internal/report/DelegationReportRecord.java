package org.djlplan.memplan.internal.report;

import java.util.List;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The implementation of {@link DelegationReport}. */
public record DelegationReportRecord(
        String delegate,
        int operators,
        int delegatedOperators,
        int partitions,
        int threads,
        Origin origin,
        String reason,
        String choiceId,
        List<OutputAgreement> outputs,
        String otherShapes)
        implements DelegationReport {

    public DelegationReportRecord {
        outputs = ImmutableList.copyOf(outputs);
    }

    /** Creates the report of a model that was not measured at other shapes. */
    public DelegationReportRecord(
            String delegate,
            int operators,
            int delegatedOperators,
            int partitions,
            int threads,
            Origin origin,
            String reason,
            String choiceId,
            List<OutputAgreement> outputs) {
        this(
                delegate,
                operators,
                delegatedOperators,
                partitions,
                threads,
                origin,
                reason,
                choiceId,
                outputs,
                "");
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        if (operators == 0) {
            text.append("runs as ").append(delegate);
        } else {
            text.append(delegatedOperators).append(" of ").append(operators);
            text.append(" operators in ").append(partitions).append(" kernels of ");
            text.append(delegate);
        }
        text.append(
                threads < 0 ? "" : ", now on " + threads + (threads == 1 ? " thread" : " threads"));
        text.append(" (").append(origin).append(", choice ").append(choiceId).append("): ");
        text.append(reason);
        outputs.forEach(output -> text.append("\n    ").append(output));
        text.append(otherShapes.isEmpty() ? "" : "\n    other shapes: " + otherShapes);
        return text.toString();
    }
}
