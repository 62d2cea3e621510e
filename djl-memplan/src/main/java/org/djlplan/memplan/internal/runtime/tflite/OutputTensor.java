package org.djlplan.memplan.internal.runtime.tflite;

import java.nio.ByteBuffer;

/**
 * The value of one output. It has separate memory, which no interpreter or arena uses.
 *
 * @param info name, type and shape
 * @param data a buffer on the heap, in native byte order
 */
public record OutputTensor(TensorInfo info, ByteBuffer data) {}
