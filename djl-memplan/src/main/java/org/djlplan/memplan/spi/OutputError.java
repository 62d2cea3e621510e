package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.graph.ElementType;

/**
 * How far an output is from what the CPU kernels compute of the same inputs; the worst of several.
 *
 * @param type of the output's elements
 * @param difference for floating-point types the largest absolute difference of two elements
 *     divided by the largest absolute element of the CPU's output (by 1 if that is 0); for integers
 *     of 8 and 16 bits the largest absolute difference, which for quantized tensors is in steps;
 *     for other types the number of elements that differ. Infinite where only one is a number
 */
public record OutputError(ElementType type, double difference) {

    public OutputError {
        checkArgument(difference >= 0, "difference: %s", difference);
    }
}
