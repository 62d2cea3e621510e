package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;

/**
 * The difference of an output from the CPU kernels' output for the same inputs: the largest one
 * over several inputs.
 *
 * @param type of the output's elements
 * @param deviation from the CPU kernels' output
 * @param noise change of the CPU kernels' own output when inputs change slightly: every
 *     floating-point input by one unit in its last place (if operators are compared, also by half
 *     an 8-bit step); for a model with only integer outputs, also every quantized input by one
 *     step. None if it was not needed for the decision
 * @param headroom for outputs that always lie between 0 and 1, 1 divided by the largest element;
 *     otherwise 1
 * @param byOperator largest difference of a single operator from its CPU kernel, in an 8-bit model;
 *     empty if it was not needed or cannot be determined
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

    /** Creates an error with a deviation only. */
    public OutputError(ElementType type, Deviation deviation, Deviation noise, double headroom) {
        this(type, deviation, noise, headroom, Optional.empty());
    }

    /** Creates an error of which only the largest difference is known. */
    public OutputError(ElementType type, double difference) {
        this(type, new Deviation(difference, 0, 0), Deviation.NONE, 1);
    }

    /** Returns the largest difference, see {@link Deviation#largest}. */
    public double difference() {
        return deviation.largest();
    }

    /**
     * Returns a lower bound of the cosine of the angle between the output and the reference. It is
     * the cosine of the largest angle that a vector with this relative error can have.
     */
    public double leastCosine() {
        return Math.sqrt(Math.max(0, 1 - deviation.spread() * deviation.spread()));
    }

    /** Returns this error with its noise. */
    public OutputError withNoise(Deviation known) {
        return new OutputError(type, deviation, known, headroom, byOperator);
    }

    /** Returns this error with the errors of single operators. */
    public OutputError withOperators(ByOperator known) {
        return new OutputError(type, deviation, noise, headroom, Optional.of(known));
    }

    /**
     * The delegated operator that differs most from its CPU kernel on the same values.
     *
     * @param operator its index
     * @param share its difference divided by the accepted difference; infinite if the served
     *     model's outputs differ from the results of its operators when these run one by one
     */
    public record ByOperator(int operator, double share) {

        public ByOperator {
            checkArgument(operator >= 0, "operator: %s", operator);
            checkArgument(share >= 0, "share: %s", share);
        }

        /** Returns whether every operator is within the limit. */
        public boolean isRight() {
            return share <= 1;
        }
    }

    /**
     * The difference of a tensor from another one; the largest of several pairs.
     *
     * @param largest for floating-point types the largest absolute difference of two elements
     *     divided by the largest absolute element of the other tensor (by 1 if that is 0); for 8-
     *     and 16-bit integers the largest absolute difference, which for quantized tensors is in
     *     steps; for other types the number of elements that differ. Infinite if only one of two
     *     elements is a number
     * @param spread for floating-point types the Euclidean norm of the difference divided by the
     *     norm of the other tensor; for 8- and 16-bit integers the share of elements that differ by
     *     more than one step; otherwise 0
     * @param otherTops for 8- and 16-bit integers: the number of pairs of vectors with different
     *     positions of the largest element. A pair counts only if the other vector's elements at
     *     these two positions differ by more than one step. Otherwise 0
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

        /** Returns this difference relative to another element, that many times as large. */
        public Deviation times(double factor) {
            return new Deviation(largest * factor, spread * factor, otherTops);
        }

        /** Returns the maximum of both. */
        public Deviation and(Deviation other) {
            return new Deviation(
                    Math.max(largest, other.largest),
                    Math.max(spread, other.spread),
                    otherTops + other.otherTops);
        }
    }
}
