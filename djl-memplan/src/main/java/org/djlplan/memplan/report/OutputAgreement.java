package org.djlplan.memplan.report;

import org.djlplan.memplan.internal.report.OutputAgreementRecord;

/**
 * The difference between an output of a delegated model and the CPU kernels' output: the largest
 * one over several inputs.
 */
public interface OutputAgreement {

    /**
     * Returns the agreement of an output, for a delegation provider; the parameters are described
     * at the methods of the same names.
     */
    static OutputAgreement of(String output, double difference, double noise, double limit) {
        return new OutputAgreementRecord(output, difference, noise, limit);
    }

    /** Returns the name of the output. */
    String output();

    /**
     * Returns the largest absolute difference of two elements divided by the largest absolute
     * element; for quantized outputs in steps.
     */
    double difference();

    /**
     * Returns the change of the CPU kernels' own output, measured like {@link #difference}, if the
     * inputs change by one unit in their last place, or in 8-bit models by one step; 0 if it was
     * not needed.
     */
    double noise();

    /** Returns the largest accepted difference. */
    double limit();

    /** Returns one line for people. */
    @Override
    String toString();
}
