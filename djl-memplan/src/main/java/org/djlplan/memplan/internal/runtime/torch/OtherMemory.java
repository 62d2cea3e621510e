package org.djlplan.memplan.internal.runtime.torch;

import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.ProcessMemory.Mappings;
import org.djlplan.memplan.internal.runtime.ProcessMemory.NativeHeap;

/**
 * Measures a model's memory beside its weights and its arena: pages of the engine's libraries that
 * its kernels use, small weights, and data that kernels keep. It measures after each of the first
 * predictions, then less and less often, because memory may grow late. It includes allocations of
 * other threads of the process, which cannot be separated; so it may make a window smaller, but
 * never causes a model to be refused. One thread at a time measures; all may read {@link #bytes}.
 */
final class OtherMemory {

    /** The minimum for any model. */
    static final long LEAST_BYTES = 24_000_000;

    /** Other models, and whatever else the application does, grow meanwhile. */
    static final long MOST_BYTES = 64_000_000;

    /** Growth that may happen between two samples. */
    static final long GROWTH_BYTES = 6_000_000;

    /** Weights are planned anew when this changes: not for a few pages. */
    private static final long STEP_BYTES = 1_000_000;

    /** Predictions after which little of it changes. */
    static final int SETTLING = 4;

    private static final int MOST_BETWEEN_LOOKS = 64;

    private final LongSupplier own;
    private final LongSupplier libraries;
    private final Before before;
    private long libraryBytes;
    private volatile long bytes = LEAST_BYTES;
    private int predictions;
    private int next = 1;

    /**
     * The memory of the process before a model was loaded.
     *
     * @param ownBytes as {@link #ownBytes} has them
     * @param libraryBytes as {@link #libraryBytes} has them
     */
    record Before(long ownBytes, long libraryBytes) {

        static Before now() {
            return new Before(OtherMemory.ownBytes(), OtherMemory.libraryBytes());
        }
    }

    /** The memory of this process. */
    OtherMemory(Before before) {
        this(OtherMemory::ownBytes, OtherMemory::libraryBytes, before);
    }

    OtherMemory(LongSupplier own, LongSupplier libraries, Before before) {
        this.own = own;
        this.libraries = libraries;
        this.before = before;
    }

    /**
     * Returns what this process has allocated, in bytes: what the C library has, also what it keeps
     * for later, for kernels ask for that again; and what the JVM keeps for classes and code.
     * Neither the JVM's heap nor arenas nor files.
     */
    private static long ownBytes() {
        return ProcessMemory.nativeHeap().map(NativeHeap::takenBytes).orElse(0L)
                + ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getUsed();
    }

    /** Returns the pages of libraries that are in memory, in bytes. Takes milliseconds. */
    private static long libraryBytes() {
        return new ProcessMemory().mappings().map(Mappings::libraryBytes).orElse(0L);
    }

    /** Returns the observed maximum; before the first prediction, a lower bound. */
    long bytes() {
        return bytes;
    }

    /** Returns whether the first predictions are over. */
    boolean settled() {
        return predictions >= SETTLING;
    }

    /** Counts a prediction, and looks if it is time to. */
    void predicted() {
        predictions++;
        if (predictions >= next) {
            next = predictions + (settled() ? Math.min(predictions, MOST_BETWEEN_LOOKS) : 1);
            if (predictions <= SETTLING) {
                // Kernels of later predictions are the same ones.
                libraryBytes = Math.max(0, libraries.getAsLong() - before.libraryBytes());
            }
            long seen = own.getAsLong() - before.ownBytes() + libraryBytes + GROWTH_BYTES;
            if (!settled() || seen > bytes) {
                ProcessMemory.trim();
            }
            long whole = (seen + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
            bytes = Math.max(bytes, Math.min(whole, MOST_BYTES));
        }
    }
}
