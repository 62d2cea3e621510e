package org.djlplan.memplan.report;

import java.util.List;

/**
 * The operators of a model that run in the engine's delegate, and the reason for this choice.
 *
 * @param delegate the name of the delegate
 * @param operators the number of operators of the model
 * @param delegatedOperators the number of delegated operators
 * @param partitions the number of delegate kernels; 0 as long as only other shapes than those in
 *     the file were predicted
 * @param threads the threads per prediction, −1 for the engine's default
 * @param origin the origin of the choice
 * @param reason the reason of the choice, in one line
 * @param choiceId an identifier of the choice among all choices for this model: 12 hexadecimal
 *     digits, a hash of engine, delegate, acceptance rule, and all operators and thread counts that
 *     may serve. It is equal in every JVM with the same choice
 * @param outputs the measured differences of its outputs from the CPU kernels'; empty if nothing is
 *     delegated
 * @param otherShapes which kernels run inputs of other shapes than in the file, and why, in one
 *     line; empty if other shapes were not measured, so that the CPU kernels run them
 */
public record DelegationReport(
        String delegate,
        int operators,
        int delegatedOperators,
        int partitions,
        int threads,
        Origin origin,
        String reason,
        String choiceId,
        List<OutputAgreement> outputs,
        String otherShapes) {

    public DelegationReport {
        outputs = List.copyOf(outputs);
    }

    /** The origin of a choice. */
    public enum Origin {
        /** Nothing was measured; the choice is the CPU kernels. */
        UNVERIFIED,
        /** Its outputs were compared with the CPU kernels'; other sets may be better. */
        VERIFIED,
        /** Measured now. */
        MEASURED,
        /** Measured earlier and stored. */
        STORED
    }

    /**
     * Returns the report for people: a line for the delegated operators, one per output, and one
     * for other shapes if they were measured.
     */
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
