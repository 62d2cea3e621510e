package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;

/**
 * The distance of an output from what the CPU kernels compute of the same inputs; the worst of
 * several.
 *
 * @param type of the output's elements
 * @param deviation from the CPU kernels' output
 * @param noise by how much the CPU kernels' own output moves when every floating-point input moves
 *     by one unit in its last place, and of a model whose outputs are all integers every quantized
 *     one by one step (where operators are compared, floats by half a step of 8 bits, too); none if
 *     that was not needed to judge the deviation
 * @param headroom for outputs that lie between 0 and 1 whatever the inputs are, 1 divided by the
 *     largest element; else 1
 * @param byOperator how far single operators are from their CPU kernels, in a model with numbers of
 *     8 bits; empty if that was not needed, or could not be found out
 */
public record OutputError(
        ElementType type,
        Deviation deviation,
        Deviation noise,
        double headroom,
        Optional<ByOperator> byOperator) {

    public OutputError {
        checkArgument(headroom >= 1, "headroom: %s", headroom);
    }

    /** An error of outputs only. */
    public OutputError(ElementType type, Deviation deviation, Deviation noise, double headroom) {
        this(type, deviation, noise, headroom, Optional.empty());
    }

    /** An error of which only the largest difference is known. */
    public OutputError(ElementType type, double difference) {
        this(type, new Deviation(difference, 0, 0), Deviation.NONE, 1);
    }

    /** Returns the largest difference, see {@link Deviation#largest}. */
    public double difference() {
        return deviation.largest();
    }

    /** Returns the same with the noise known. */
    public OutputError withNoise(Deviation known) {
        return new OutputError(type, deviation, known, headroom, byOperator);
    }

    /** Returns the same with the errors of single operators known. */
    public OutputError withOperators(ByOperator known) {
        return new OutputError(type, deviation, noise, headroom, Optional.of(known));
    }

    /**
     * The operator that is furthest from its CPU kernel when both are given the same values, of all
     * that are delegated.
     *
     * @param operator its index
     * @param share its distance divided by what is accepted of an operator; infinite if the values
     *     that a model serves are not those that its operators compute one by one
     */
    public record ByOperator(int operator, double share) {

        public ByOperator {
            checkArgument(operator >= 0, "operator: %s", operator);
            checkArgument(share >= 0, "share: %s", share);
        }

        /** Returns whether every operator is near enough. */
        public boolean isRight() {
            return share <= 1;
        }
    }

    /**
     * The distance of a tensor from another one; the worst of several pairs.
     *
     * @param largest for floating-point types the largest absolute difference of two elements
     *     divided by the largest absolute element of the other tensor (by 1 if that is 0); for
     *     integers of 8 and 16 bits the largest absolute difference, which for quantized tensors is
     *     in steps; for other types the number of elements that differ. Infinite where only one is
     *     a number
     * @param spread for floating-point types the Euclidean norm of the difference divided by that
     *     of the other tensor; for integers of 8 and 16 bits the share of elements that are more
     *     than one step apart; else 0
     * @param otherTops for integers of 8 and 16 bits: in how many pairs of vectors the largest
     *     element is another one, by more than one step; else 0
     */
    public record Deviation(double largest, double spread, int otherTops) {

        /** Equal tensors. */
        public static final Deviation NONE = new Deviation(0, 0, 0);

        /** Tensors that cannot be compared. */
        public static final Deviation INFINITE =
                new Deviation(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, 0);

        public Deviation {
            checkArgument(largest >= 0, "largest: %s", largest);
            checkArgument(spread >= 0, "spread: %s", spread);
            checkArgument(otherTops >= 0, "otherTops: %s", otherTops);
        }

        /** Returns the worst of both. */
        public Deviation and(Deviation other) {
            return new Deviation(
                    Math.max(largest, other.largest),
                    Math.max(spread, other.spread),
                    otherTops + other.otherTops);
        }
    }
}
