package org.djlplan.memplan.report;

import java.util.Locale;

/**
 * The difference between an output of a delegated model and the CPU kernels' output: the largest
 * one over several inputs.
 *
 * @param output the name of the output
 * @param difference the largest absolute difference of two elements divided by the largest absolute
 *     element; for quantized outputs in steps
 * @param noise the change of the CPU kernels' own output, measured like the difference, if the
 *     inputs change by one unit in their last place, or in 8-bit models by one step; 0 if it was
 *     not needed
 * @param limit the largest accepted difference
 */
public record OutputAgreement(String output, double difference, double noise, double limit) {

    /** Returns the agreement of an output, for a delegation provider. */
    public static OutputAgreement of(String output, double difference, double noise, double limit) {
        return new OutputAgreement(output, difference, noise, limit);
    }

    /** Returns one line for people. */
    @Override
    public String toString() {
        return output
                + " differs by "
                + rounded(difference)
                + ", noise "
                + rounded(noise)
                + ", limit "
                + rounded(limit);
    }

    /** Returns steps as integers, and fractions with two digits. */
    private static String rounded(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.1e", value);
    }
}
