package org.djlplan.memplan.internal.runtime;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Copies buffers, because the memory behind an engine's buffer is freed with its array. */
public final class Buffers {

    private Buffers() {}

    /** Returns a copy of the remaining bytes on the heap, in native byte order. */
    public static ByteBuffer copy(ByteBuffer values) {
        ByteBuffer copy = ByteBuffer.allocate(values.remaining()).order(ByteOrder.nativeOrder());
        return copy.put(values.duplicate()).rewind();
    }
}
