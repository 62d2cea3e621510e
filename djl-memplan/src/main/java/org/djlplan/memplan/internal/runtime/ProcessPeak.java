package org.djlplan.memplan.internal.runtime;

import java.util.OptionalLong;
import java.util.stream.LongStream;

/** The most memory that this process had since an object of this class was made. Thread-safe. */
final class ProcessPeak {

    private final ProcessMemory process = new ProcessMemory();

    /** The system's high-water mark at the beginning; it may date from before. */
    private final OptionalLong before = process.peakBytes();

    private long sampledBytes;

    /** Notes the current memory, because the system's high-water mark may be an older one. */
    synchronized void sample() {
        sampledBytes = Math.max(sampledBytes, process.residentBytes().orElse(0));
    }

    /**
     * Returns the most bytes in memory. If the process had more before, returns the most of the
     * samples, and of now. Empty if the system does not report it.
     */
    synchronized OptionalLong bytes() {
        OptionalLong mark = process.peakBytes();
        if (mark.isEmpty() || before.isEmpty() || mark.getAsLong() > before.getAsLong()) {
            return mark;
        }
        sample();
        return LongStream.of(sampledBytes).filter(bytes -> bytes > 0).max();
    }
}
