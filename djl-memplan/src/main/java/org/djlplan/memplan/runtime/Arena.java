package org.djlplan.memplan.runtime;

import com.sun.jna.Pointer;
import java.util.OptionalLong;
import org.djlplan.memplan.machine.Machine;

/** Page-aligned memory that one inference at a time may use. */
public final class Arena {

    private static final long PAGE_BYTES = 4096;

    /**
     * Of the addresses that a limited process ({@code ulimit -v}) has left an arena takes one part
     * in so many at most: the engine, the JVM and its threads need the others.
     */
    private static final int SHARE_OF_ADDRESSES = 4;

    private static final Machine MACHINE = new Machine();

    private final Pointer address;
    private final long bytes;
    private final NativeLoader.Use use;

    /**
     * @param address where it starts
     * @param bytes its size
     * @param use of the native methods that free it
     */
    Arena(Pointer address, long bytes, NativeLoader.Use use) {
        this.address = address;
        this.bytes = bytes;
        this.use = use;
    }

    /**
     * Vectorised kernels may read a little past a tensor's end: one page more than asked for.
     *
     * @throws NoArenaException if there is no memory, or no addresses
     */
    static Arena create(long bytes) {
        long rounded = roundedBytes(bytes);
        OptionalLong addresses = MACHINE.addressSpaceHeadroomBytes();
        if (addresses.isPresent() && rounded > addresses.getAsLong() / SHARE_OF_ADDRESSES) {
            throw new NoArenaException(
                    "an arena of "
                            + rounded
                            + " bytes would be more than a quarter of the "
                            + addresses.getAsLong()
                            + " bytes of addresses that the process has left (ulimit -v)");
        }
        NativeLoader.Use use;
        try {
            use = NativeMemory.use();
        } catch (UnsupportedPlatformException e) {
            throw new IllegalStateException(e);
        }
        Pointer address = NativeMemory.djlplan_arena_create(rounded);
        if (address == null) {
            use.close();
            throw new NoArenaException("no memory for an arena of " + rounded + " bytes");
        }
        return new Arena(address, rounded, use);
    }

    /** Returns the size of the arena that {@link #create} makes for {@code bytes}. */
    static long roundedBytes(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;
    }

    /** Returns where it starts. */
    public Pointer address() {
        return address;
    }

    /** Returns its size. */
    public long bytes() {
        return bytes;
    }

    void free() {
        NativeMemory.djlplan_arena_free(address);
        use.close();
    }

    /** Says that the native library frees it, with the last block that is in it. */
    void abandon() {
        use.close();
    }
}
