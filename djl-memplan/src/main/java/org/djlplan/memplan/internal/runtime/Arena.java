package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Pointer;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.thread.Later;
import org.jspecify.annotations.Nullable;

/**
 * Page-aligned memory for one inference at a time. Not thread-safe: the lock of its pool guards
 * everything except its size, which has a lock of its own.
 *
 * <p>If the arena shrinks, memory beyond its new size is returned to the system in the background,
 * a slice at a time. If an inference needs a larger arena meanwhile, the arena grows again between
 * two slices, and keeps the memory that was not returned yet. So an inference waits for two slices
 * at most.
 */
public final class Arena {

    private static final long PAGE_BYTES = 4096;

    /**
     * If addresses are limited ({@code ulimit -v}), an arena takes at most one part in this many of
     * those that are left: the engine, the JVM and its threads need the others.
     */
    private static final int SHARE_OF_ADDRESSES = 4;

    /**
     * The share of the remaining addresses that an arena reserves for growth: one part in this
     * many.
     */
    private static final int SHARE_TO_GROW_INTO = 16;

    private static final Machine MACHINE = new Machine();

    private final Pointer address;
    private final Memory memory;
    private final NativeLoader.Use use;

    /**
     * Guards the size, and keeps memory below it from being returned. Fair, so that the next slice
     * waits behind a prediction.
     */
    private final ReentrantLock sizing = new ReentrantLock(true);

    private final Reach reach = new Reach();

    /** Changes under {@link #sizing} only. */
    private volatile long bytes;

    /** Plans of TensorFlow Lite leave no arrays behind. */
    private boolean mayHoldArrays;

    /** The part that is mapped; guarded by {@link #sizing}. */
    private long mappedBytes;

    private boolean outdated;
    private boolean freed;

    /** How far from its beginning recent predictions used an arena. */
    private static final class Reach {

        /** Memory is returned only if it is more than this, and more than one part in this many. */
        private static final long LITTLE_BYTES = 1 << 20;

        private static final int LITTLE_PART = 8;

        private long last;
        private long before;
        private long now;
        private int predictions;
        private long sinceNanos = System.nanoTime();

        /**
         * Notes how far a prediction went.
         *
         * @param bytes size of the arena
         * @param keeping of memory that predictions do not use
         * @return the furthest that recent predictions went, if that is clearly less than the size
         */
        OptionalLong note(long reached, long bytes, Keeping keeping) {
            last = reached;
            now = Math.max(now, reached);
            predictions++;
            long nowNanos = System.nanoTime();
            if (!keeping.isOver(predictions, nowNanos - sinceNanos)) {
                return OptionalLong.empty();
            }
            sinceNanos = nowNanos;
            long furthest = Math.max(before, now);
            before = now;
            now = 0;
            predictions = 0;
            boolean much = bytes - furthest > Math.max(LITTLE_BYTES, bytes / LITTLE_PART);
            return much ? OptionalLong.of(furthest) : OptionalLong.empty();
        }
    }

    /** The memory of arenas: the native library's, or a fake in tests. */
    interface Memory {

        /** Keeps the memory's native methods bound. */
        NativeLoader.Use use() throws UnsupportedPlatformException;

        /**
         * Returns an arena of {@code bytes} that may grow to {@code most}; null if there is none.
         */
        @Nullable Pointer create(long bytes, long most);

        /** Makes the arena at least this large, if it can. Returns its size. */
        long grow(Pointer arena, long bytes);

        /** Maps the first bytes at once. */
        void map(Pointer arena, long bytes);

        boolean inUse(Pointer arena);

        /**
         * Returns the highest slice of unused memory between two offsets to the system.
         *
         * @return the offset of the slice in bytes; −1 if nothing is left there
         */
        long trim(Pointer arena, long keep, long below);

        void free(Pointer arena);
    }

    /** The native library's memory. */
    static final class Native implements Memory {

        @Override
        public NativeLoader.Use use() throws UnsupportedPlatformException {
            return NativeMemory.use();
        }

        @Override
        public @Nullable Pointer create(long bytes, long most) {
            return NativeMemory.djlplan_arena_create(bytes, most);
        }

        @Override
        public long grow(Pointer arena, long bytes) {
            return NativeMemory.djlplan_arena_grow(arena, bytes);
        }

        @Override
        public void map(Pointer arena, long bytes) {
            NativeMemory.djlplan_arena_map(arena, bytes);
        }

        @Override
        public boolean inUse(Pointer arena) {
            return NativeMemory.djlplan_arena_in_use(arena) != 0;
        }

        @Override
        public long trim(Pointer arena, long keep, long below) {
            return NativeMemory.djlplan_arena_trim(arena, keep, below);
        }

        @Override
        public void free(Pointer arena) {
            NativeMemory.djlplan_arena_free(arena);
        }
    }

    private Arena(Pointer address, long bytes, Memory memory, NativeLoader.Use use) {
        this.address = address;
        this.bytes = bytes;
        this.memory = memory;
        this.use = use;
    }

    /**
     * Creates an arena, one page larger because vectorised kernels may read past a tensor's end. To
     * become larger in place, it reserves addresses for as much memory as this process could ever
     * use, or fewer if addresses are limited.
     *
     * @throws NoArenaException if there is no memory, or no addresses
     */
    static Arena create(long bytes, Memory memory) {
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
            use = memory.use();
        } catch (UnsupportedPlatformException e) {
            throw new IllegalStateException(e);
        }
        Pointer address = memory.create(rounded, most(addresses));
        if (address == null) {
            use.close();
            throw new NoArenaException("no memory for an arena of " + rounded + " bytes");
        }
        return new Arena(address, rounded, memory, use);
    }

    private static long most(OptionalLong addresses) {
        long memory = MACHINE.memoryRoom().limitBytes();
        return addresses.isPresent()
                ? Math.min(memory, addresses.getAsLong() / SHARE_TO_GROW_INTO)
                : memory;
    }

    /** Returns the size of the arena that {@link #create} makes for {@code bytes}. */
    static long roundedBytes(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;
    }

    /** Returns its start. */
    public Pointer address() {
        return address;
    }

    /** Returns its size: the part that was used and not returned to the system. */
    public long bytes() {
        return bytes;
    }

    /** Returns the end of the part that the last prediction used. */
    long lastReachedBytes() {
        return reach.last;
    }

    /** Notes that inferences use it that may leave arrays behind. */
    void mayHoldArrays() {
        mayHoldArrays = true;
    }

    /** Sets whether it is trimmed to the known needs when its lease ends. */
    void setOutdated(boolean trimmed) {
        outdated = trimmed;
    }

    /** Returns whether it is trimmed to the known needs when its lease ends. */
    boolean outdated() {
        return outdated;
    }

    /** Makes it large enough, if it can. */
    boolean ensure(long wanted) {
        long rounded = roundedBytes(wanted);
        if (rounded <= bytes) {
            return true;
        }
        sizing.lock();
        try {
            if (memory.grow(address, rounded) < rounded) {
                return false;
            }
            bytes = rounded;
            return true;
        } finally {
            sizing.unlock();
        }
    }

    /**
     * Maps the first bytes at once, for an inference that writes all of them, because page faults
     * and the first access to each page take long in virtual machines.
     */
    void map(long written) {
        sizing.lock();
        try {
            long wanted = Math.min(roundedBytes(written), bytes);
            if (wanted > mappedBytes) {
                memory.map(address, wanted);
                mappedBytes = wanted;
            }
        } finally {
            sizing.unlock();
        }
    }

    /** Returns whether no array of an earlier prediction is in it. */
    boolean isEmpty() {
        if (!mayHoldArrays) {
            return true;
        }
        // A slice that is being returned to the system counts as a block.
        sizing.lock();
        try {
            return !memory.inUse(address);
        } finally {
            sizing.unlock();
        }
    }

    /**
     * Notes how far a prediction used it.
     *
     * @param keeping of memory that predictions do not use
     * @return how many bytes recent predictions used, if it is time to return the others
     */
    OptionalLong note(long reached, Keeping keeping) {
        long rounded = roundedBytes(reached);
        if (rounded > bytes) {
            sizing.lock();
            try {
                bytes = rounded;
            } finally {
                sizing.unlock();
            }
        }
        return reach.note(reached, bytes, keeping);
    }

    /**
     * Makes it smaller. Not allowed while an inference uses places beyond the new size.
     *
     * @return whether it was larger: then {@link #trim} or {@link #trimLater} must follow
     */
    boolean shrink(long keep) {
        long rounded = roundedBytes(keep);
        sizing.lock();
        try {
            boolean smaller = rounded < bytes;
            if (smaller) {
                bytes = rounded;
                mappedBytes = Math.min(mappedBytes, rounded);
            }
            return smaller;
        } finally {
            sizing.unlock();
        }
    }

    /** Returns memory beyond its size to the system, except blocks in use. */
    void trim() {
        long below = Long.MAX_VALUE;
        while (below >= 0) {
            sizing.lock();
            try {
                below = freed ? -1 : memory.trim(address, bytes, below);
            } finally {
                sizing.unlock();
            }
        }
    }

    /** Trims in the background. */
    void trimLater() {
        Later.run(Duration.ZERO, this::trim);
    }

    /** Frees it, as soon as nothing in it is in use. */
    void free() {
        sizing.lock();
        try {
            freed = true;
            memory.free(address);
            use.close();
        } finally {
            sizing.unlock();
        }
    }
}
