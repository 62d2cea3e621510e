package org.djlplan.memplan.report;

/**
 * What of a model runs in the engine's delegate.
 *
 * @param delegate its name
 * @param operators how many operators the model has
 * @param delegatedOperators how many of them are delegated
 * @param partitions how many delegate kernels they became
 * @param threads threads per prediction, −1 for the engine's default
 * @param origin PREDICTED, MEASURED or STORED
 * @param reason why, in one line
 */
public record DelegationReport(
        String delegate,
        int operators,
        int delegatedOperators,
        int partitions,
        int threads,
        String origin,
        String reason) {}
