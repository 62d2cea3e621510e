package org.djlplan.memplan.runtime.tflite;

import java.nio.ByteBuffer;

/**
 * The value of one output. The memory is its own: neither an interpreter nor an arena uses it.
 *
 * @param info name, type and shape
 * @param data a buffer on the heap, in native byte order
 */
public record OutputTensor(TensorInfo info, ByteBuffer data) {}
