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
        List<OutputAgreement> outputs) {

    public DelegationReport {
        outputs = ImmutableList.copyOf(outputs);
    }
}
