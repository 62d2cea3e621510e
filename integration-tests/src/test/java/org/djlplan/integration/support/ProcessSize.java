package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads this process's memory, and how much it has read from files. */
public final class ProcessSize {

    private static final long PAGE_BYTES = 4096;

    private ProcessSize() {}

    /** Returns the resident memory of this process. */
    public static long residentBytes() throws IOException {
        String statm = Files.readString(Path.of("/proc/self/statm"));
        return Long.parseLong(statm.split(" ", -1)[1]) * PAGE_BYTES;
    }

    /** Returns the most resident memory since the start of the process or {@link #resetPeak}. */
    public static long peakBytes() throws IOException {
        return figure("status", "VmHWM:") << 10;
    }

    /** Returns how many bytes this process has read from files since its start. */
    public static long readBytes() throws IOException {
        return figure("io", "rchar:");
    }

    private static long figure(String file, String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self", file)).stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    /** Begins to measure the peak again. */
    public static void resetPeak() throws IOException {
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    }
}
