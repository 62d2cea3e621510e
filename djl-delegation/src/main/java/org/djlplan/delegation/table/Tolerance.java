package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.spi.OutputError;

/**
 * How far outputs may be from those of the CPU kernels.
 *
 * @param relative of floating-point types, relative to the largest element. Quantized outputs may
 *     be one step off, others not at all
 */
public record Tolerance(double relative) {

    public Tolerance {
        checkArgument(relative >= 0, "relative: %s", relative);
    }

    /** Returns whether an output is near enough. */
    public boolean admits(OutputError error) {
        return switch (error.type()) {
            case FLOAT16, FLOAT32, FLOAT64 -> error.difference() <= relative;
            case INT8, UINT8, INT16, UINT16 -> error.difference() <= 1;
            default -> error.difference() == 0;
        };
    }
}
