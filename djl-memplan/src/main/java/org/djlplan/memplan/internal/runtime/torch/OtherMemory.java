package org.djlplan.memplan.internal.runtime.torch;

import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.ProcessMemory.Mappings;
import org.djlplan.memplan.internal.runtime.ProcessMemory.NativeHeap;

/**
 * Measures a model's memory beside its weights and its arena: pages of the engine's libraries that
 * its kernels use, small weights, and data that kernels keep. It measures after each of the first
 * predictions, then less and less often, because memory may grow late. The result includes
 * allocations of other threads of the process, which cannot be separated. So a large result may
 * make the window over the weights smaller, but never causes a model to be rejected. One thread at
 * a time measures; any thread may read {@link #bytes}.
 */
final class OtherMemory {

    /** The minimum for any model. */
    static final long LEAST_BYTES = 30_000_000;

    /**
     * The maximum for any model, because other models and the rest of the application may grow
     * meanwhile.
     */
    static final long MOST_BYTES = 64_000_000;

    /** Growth that may happen between two samples. */
    static final long GROWTH_BYTES = 6_000_000;

    /** Smaller changes do not cause a new plan of the weights. */
    private static final long STEP_BYTES = 1_000_000;

    /** Number of predictions after which this memory changes little. */
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
     * @param ownBytes the result of {@link OtherMemory#ownBytes()}
     * @param libraryBytes the result of {@link OtherMemory#libraryBytes()}
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
     * Returns the bytes that this process has allocated from the C library, including freed memory
     * that it keeps for later, because kernels will allocate that again; plus the JVM's memory for
     * classes and code. Excludes the JVM's heap, arenas and files.
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

    /** Counts a prediction, and measures if it is time to. */
    void predicted() {
        predictions++;
        if (predictions >= next) {
            next = predictions + (settled() ? Math.min(predictions, MOST_BETWEEN_LOOKS) : 1);
            if (predictions <= SETTLING) {
                // Later predictions use the same kernels.
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
