package org.djlplan.memplan.report;

/**
 * The difference between an output of a delegated model and the CPU kernels' output; the largest of
 * several inputs.
 *
 * @param output its name
 * @param difference the largest absolute difference of two elements divided by the largest absolute
 *     element; for quantized outputs in steps
 * @param noise change of the CPU kernels' own output if the inputs change by one unit in their last
 *     place, or in 8-bit models by one step, in the same measure; 0 if it was not needed
 * @param limit the largest accepted difference
 */
public record OutputAgreement(String output, double difference, double noise, double limit) {

    /** Returns one line for people. */
    @Override
    public String toString() {
        return output + " differs by " + difference + ", noise " + noise + ", limit " + limit;
    }
}
