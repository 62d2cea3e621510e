package org.djlplan.memplan.report;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * The part of a model that runs in the engine's delegate.
 *
 * @param delegate its name
 * @param operators how many operators the model has
 * @param delegatedOperators how many of them are delegated
 * @param partitions how many delegate kernels they became
 * @param threads threads per prediction, −1 for the engine's default
 * @param origin UNVERIFIED, VERIFIED, MEASURED or STORED
 * @param reason why, in one line
 * @param choiceId what tells the choice from others of this model: 12 hexadecimal digits, a hash of
 *     engine, delegate, rule of acceptance, and operators and threads of all that may serve by it;
 *     equal in every JVM that runs by the same choice
 * @param outputs how near its outputs come to those of the CPU kernels, as far as that was
 *     measured; empty if nothing is delegated
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
        List<OutputAgreement> outputs) {

    public DelegationReport {
        outputs = ImmutableList.copyOf(outputs);
    }

    /** Returns the report for people, a line for what is delegated and one per output. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(delegatedOperators).append(" of ").append(operators).append(" operators in ");
        text.append(partitions).append(" kernels of ").append(delegate);
        text.append(threads < 0 ? "" : " with " + threads + " threads");
        text.append(" (").append(origin).append(", choice ").append(choiceId).append("): ");
        text.append(reason);
        outputs.forEach(output -> text.append("\n    ").append(output));
        return text.toString();
    }
}
