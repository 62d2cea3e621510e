package org.djlplan.memplan.runtime;

import com.sun.jna.Pointer;

/**
 * Page-aligned memory that one inference at a time may use.
 *
 * @param address where it starts
 * @param bytes its size
 */
public record Arena(Pointer address, long bytes) {

    private static final long PAGE_BYTES = 4096;

    /** Vectorised kernels may read a little past a tensor's end: one page more than asked for. */
    static Arena create(long bytes, boolean hugePages) {
        try {
            NativeMemory.require();
        } catch (UnsupportedPlatformException e) {
            throw new IllegalStateException(e);
        }
        long rounded = roundedBytes(bytes);
        Pointer address = NativeMemory.djlplan_arena_create(rounded, hugePages ? 1 : 0);
        if (address == null) {
            throw new IllegalStateException("no memory for an arena of " + rounded + " bytes");
        }
        return new Arena(address, rounded);
    }

    /** Returns the size of the arena that {@link #create} makes for {@code bytes}. */
    static long roundedBytes(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;
    }

    void free() {
        NativeMemory.djlplan_arena_free(address, bytes);
    }
}
