package org.djlplan.memplan.report;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * The operators of a model that run in the engine's delegate, and why.
 *
 * @param delegate name of the delegate
 * @param operators number of operators of the model
 * @param delegatedOperators number of delegated operators
 * @param partitions number of delegate kernels
 * @param threads threads per prediction, −1 for the engine's default
 * @param origin UNVERIFIED, VERIFIED, MEASURED or STORED
 * @param reason of the choice, in one line
 * @param choiceId identifies the choice among others of this model: 12 hexadecimal digits, a hash
 *     of engine, delegate, acceptance rule, and all operators and thread counts that may serve;
 *     equal in every JVM with the same choice
 * @param outputs measured differences of its outputs from the CPU kernels'; empty if nothing is
 *     delegated
 * @param otherShapes what runs inputs of other shapes than in the file, and why, in one line; empty
 *     if that was not measured, and the CPU kernels do
 */
public record DelegationReport(
        String delegate,
        int operators,
        int delegatedOperators,
        int partitions,
        int threads,
        String origin,
        String reason,
        String choiceId,
        List<OutputAgreement> outputs,
        String otherShapes) {

    public DelegationReport {
        outputs = ImmutableList.copyOf(outputs);
    }

    /** A report of a model of which nothing was measured at other shapes. */
    public DelegationReport(
            String delegate,
            int operators,
            int delegatedOperators,
            int partitions,
            int threads,
            String origin,
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

    /**
     * Returns the report for people: a line for what is delegated, one per output, and one for
     * other shapes if they were measured.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(delegatedOperators).append(" of ").append(operators).append(" operators in ");
        text.append(partitions).append(" kernels of ").append(delegate);
        text.append(threads < 0 ? "" : " with " + threads + " threads");
        text.append(" (").append(origin).append(", choice ").append(choiceId).append("): ");
        text.append(reason);
        outputs.forEach(output -> text.append("\n    ").append(output));
        text.append(otherShapes.isEmpty() ? "" : "\n    other shapes: " + otherShapes);
        return text.toString();
    }
}
