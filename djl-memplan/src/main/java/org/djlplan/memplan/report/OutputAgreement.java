package org.djlplan.memplan.report;

/**
 * The difference between an output of a delegated model and the CPU kernels' output; the worst of
 * several inputs.
 *
 * @param output its name
 * @param difference the largest absolute difference of two elements divided by the largest absolute
 *     element; of quantized outputs in steps
 * @param noise by how much the CPU kernels' own output moves if the inputs move by one unit in
 *     their last place, or in models with numbers of 8 bits by one step of these, in the same
 *     measure; 0 if that was not needed
 * @param limit the difference that is accepted at most
 */
public record OutputAgreement(String output, double difference, double noise, double limit) {

    /** Returns one line for people. */
    @Override
    public String toString() {
        return output + " differs by " + difference + ", noise " + noise + ", limit " + limit;
    }
}
