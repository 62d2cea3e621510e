package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * What the engine says of one tensor.
 *
 * @param typeCode the engine's code of the element type
 * @param allocation who allocates it
 * @param variable whether it keeps state between inferences
 * @param ours whether its memory is ours to place
 * @param shape its dimensions
 * @param bytes its size
 * @param address where it lies now, 0 for nowhere
 */
record LiveTensor(
        int typeCode,
        Allocation allocation,
        boolean variable,
        boolean ours,
        List<Integer> shape,
        long bytes,
        long address) {

    /** {@code TfLiteAllocationType}, by ordinal. */
    enum Allocation {
        NONE,
        MMAP_RO,
        ARENA_RW,
        ARENA_RW_PERSISTENT,
        DYNAMIC,
        PERSISTENT_RO,
        CUSTOM
    }

    LiveTensor {
        shape = ImmutableList.copyOf(shape);
    }
}
