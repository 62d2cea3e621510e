package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.graph.ElementType;

/**
 * How far an output is from what the CPU kernels compute of the same inputs; the worst of several.
 *
 * @param type of the output's elements
 * @param deviation from the CPU kernels' output
 * @param noise by how much the CPU kernels' own output moves when every floating-point input moves
 *     by one unit in its last place; none if that was not needed to judge the deviation
 * @param headroom for outputs that lie between 0 and 1 whatever the inputs are, 1 divided by the
 *     largest element; else 1
 */
public record OutputError(ElementType type, Deviation deviation, Deviation noise, double headroom) {

    public OutputError {
        checkArgument(headroom >= 1, "headroom: %s", headroom);
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
        return new OutputError(type, deviation, known, headroom);
    }
}
