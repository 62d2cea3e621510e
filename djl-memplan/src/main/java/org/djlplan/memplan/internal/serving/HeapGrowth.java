package org.djlplan.memplan.internal.serving;

import java.util.OptionalLong;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.ProcessMemory.NativeHeap;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;

/**
 * The growth of the native heap of this process between two moments, such as before an interpreter
 * is opened and after its first prediction. Unknown if the C library does not report the size of
 * its heap. Not thread-safe.
 */
final class HeapGrowth {

    private final Supplier<OptionalLong> heapBytes;
    private final OptionalLong beforeBytes;
    private OptionalLong bytes = OptionalLong.empty();

    private HeapGrowth(Supplier<OptionalLong> heapBytes) {
        this.heapBytes = heapBytes;
        beforeBytes = heapBytes.get();
    }

    /** Returns the growth of this process's native heap from now on. */
    static HeapGrowth fromNow() {
        return of(HeapGrowth::ofProcess);
    }

    /**
     * @param heapBytes returns the current size of the heap
     */
    @VisibleForTesting
    static HeapGrowth of(Supplier<OptionalLong> heapBytes) {
        return new HeapGrowth(heapBytes);
    }

    private static OptionalLong ofProcess() {
        return ProcessMemory.nativeHeap().stream().mapToLong(NativeHeap::usedBytes).findFirst();
    }

    /** Measures the growth until now. */
    void measure() {
        OptionalLong now = heapBytes.get();
        if (now.isPresent() && beforeBytes.isPresent()) {
            bytes = OptionalLong.of(now.getAsLong() - beforeBytes.getAsLong());
        }
    }

    /** Returns how many bytes more than another this is; empty unless both were measured. */
    OptionalLong moreThan(HeapGrowth other) {
        return bytes.isPresent() && other.bytes.isPresent()
                ? OptionalLong.of(bytes.getAsLong() - other.bytes.getAsLong())
                : OptionalLong.empty();
    }
}
