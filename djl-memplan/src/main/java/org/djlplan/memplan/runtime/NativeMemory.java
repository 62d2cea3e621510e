package org.djlplan.memplan.runtime;

import com.sun.jna.Pointer;
import com.sun.jna.Structure;

/** The functions of {@code arena.c}, {@code mapping.c} and {@code priority.c}. */
final class NativeMemory {

    private NativeMemory() {}

    /** {@code struct djlplan_mapping}. */
    @Structure.FieldOrder({"address", "bytes", "modifiedNanos", "file"})
    public static final class Mapping extends Structure {
        public Pointer address;
        public long bytes;
        public long modifiedNanos;
        public int file;
    }

    /** Binds the native methods; later calls do nothing. */
    static synchronized void require() throws UnsupportedPlatformException {
        if (!Bound.done) {
            NativeLoader.bind(NativeMemory.class);
            Bound.done = true;
        }
    }

    private static final class Bound {
        private static boolean done;
    }

    static native Pointer djlplan_arena_create(long bytes, int hugePages);

    static native void djlplan_arena_free(Pointer arena, long bytes);

    static native void djlplan_trim();

    static native int djlplan_map(String path, Mapping mapping);

    static native int djlplan_mapping_intact(Pointer mapping);

    static native void djlplan_mapping_release(Pointer mapping);

    static native void djlplan_unmap(Pointer mapping);

    static native int djlplan_give_way(int process);
}
