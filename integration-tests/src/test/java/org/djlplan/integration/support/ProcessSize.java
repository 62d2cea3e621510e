package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the memory of this process. */
public final class ProcessSize {

    private static final long PAGE_BYTES = 4096;

    private ProcessSize() {}

    /** Returns the resident memory of this process. */
    public static long residentBytes() throws IOException {
        String statm = Files.readString(Path.of("/proc/self/statm"));
        return Long.parseLong(statm.split(" ", -1)[1]) * PAGE_BYTES;
    }
}
