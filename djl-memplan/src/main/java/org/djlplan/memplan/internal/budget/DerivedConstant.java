package org.djlplan.memplan.internal.budget;

import java.util.Optional;
import org.djlplan.memplan.graph.FileRegion;

/**
 * A tensor that a kernel derives from a constant in its first inference, and reads instead of the
 * constant from then on (FlexNN's weight pre-transform, section 4.2).
 *
 * @param step the kernel's step
 * @param tensor id of the tensor
 * @param constant id of the constant
 * @param region position of a copy of the tensor's content in the file with the weights; empty
 *     until the copy is made
 */
public record DerivedConstant(int step, int tensor, int constant, Optional<FileRegion> region) {}
