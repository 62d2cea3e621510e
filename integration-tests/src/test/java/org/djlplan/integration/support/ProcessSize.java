package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the memory of this process. */
public final class ProcessSize {

    private static final long PAGE_BYTES = 4096;
    private static final String PEAK = "VmHWM:";

    private ProcessSize() {}

    /** Returns the resident memory of this process. */
    public static long residentBytes() throws IOException {
        String statm = Files.readString(Path.of("/proc/self/statm"));
        return Long.parseLong(statm.split(" ", -1)[1]) * PAGE_BYTES;
    }

    /** Returns the most resident memory since the start of the process or {@link #resetPeak}. */
    public static long peakBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(PEAK))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElseThrow();
    }

    /** Begins to measure the peak again. */
    public static void resetPeak() throws IOException {
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    }
}
