package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Pointer;

/** The functions of {@code stream.c}; {@code djlplan.h} is their documentation. */
final class StreamNative {

    static final int OK = 0;
    static final int MISMATCH = 2;

    private StreamNative() {}

    /** Binds the native methods until the result is closed. */
    static NativeLoader.Use use() throws UnsupportedPlatformException {
        return NativeLoader.use(StreamNative.class);
    }

    static native Pointer djlplan_stream_open(
            String path, int io, byte[] message, long messageBytes);

    static native void djlplan_stream_close(Pointer stream);

    static native int djlplan_stream_io(Pointer stream);

    static native int djlplan_stream_schedule(
            Pointer stream, Pointer loads, int loadCount, int[] needs, int steps, long arenaBytes);

    static native void djlplan_stream_release(Pointer stream);

    static native void djlplan_stream_counters(Pointer stream, long[] out);
}
