package org.djlplan.memplan.source.block;

import org.djlplan.memplan.graph.ArrayType;

/**
 * An array that was seen during a prediction.
 *
 * @param type its element type and shape
 * @param kept whether it has to be left alone, whatever its last use; true for every array that the
 *     block did not create
 */
public record RecordedArray(ArrayType type, boolean kept) {}
