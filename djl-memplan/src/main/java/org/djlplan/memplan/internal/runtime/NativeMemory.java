package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Pointer;

/**
 * The functions of {@code arena.c}, {@code mapping.c} and {@code priority.c}, and those of {@code
 * xnnpack_workspace.c} for pages; {@code djlplan.h} is their documentation.
 */
final class NativeMemory {

    private NativeMemory() {}

    /** Bytes of a {@code struct djlplan_mapping}, and the offsets of its members. */
    static final int MAPPING_BYTES = 32;

    static final int MAPPING_ADDRESS = 0;
    static final int MAPPING_LENGTH = 8;
    static final int MAPPING_FILE = 24;

    /** Binds the native methods until the result is closed. */
    static NativeLoader.Use use() throws UnsupportedPlatformException {
        return NativeLoader.use(NativeMemory.class);
    }

    static native Pointer djlplan_arena_create(long bytes, long most);

    static native long djlplan_arena_grow(Pointer arena, long bytes);

    static native void djlplan_arena_map(Pointer arena, long bytes);

    static native int djlplan_arena_in_use(Pointer arena);

    static native long djlplan_arena_trim(Pointer arena, long keep, long below);

    static native void djlplan_arena_free(Pointer arena);

    static native void djlplan_trim();

    static native int djlplan_heap(long[] taken, long[] used);

    static native int djlplan_map(String path, Pointer mapping);

    static native int djlplan_mapping_intact(Pointer mapping);

    static native void djlplan_mapping_release(Pointer mapping);

    static native void djlplan_unmap(Pointer mapping);

    static native int djlplan_punch(String path, long offset, long bytes);

    static native void djlplan_drop_cached(String path, long offset, long bytes);

    static native int djlplan_give_way(int process, int nice);

    static native int djlplan_pages_create();

    static native int djlplan_pages_resize(int pages, long oldBytes, long bytes);

    static native void djlplan_pages_close(int pages);
}
