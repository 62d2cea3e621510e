package org.djlplan.memplan.source.block;

import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;

/**
 * An array that a block created during a prediction.
 *
 * @param type its element type and shape, verified when it is created again
 * @param closedAt number of the creation upon which it is no longer needed and is closed, greater
 *     than its own; empty for an array that is left to whoever owns it
 */
public record CreatedArray(ArrayType type, OptionalInt closedAt) {}
