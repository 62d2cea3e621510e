package org.djlplan.memplan.cli;

import java.io.IOException;
import java.nio.file.Path;

/** What the process's streams are connected to. */
final class Terminal {

    private static final Path ERROR_STREAM = Path.of("/proc/self/fd/2");

    private Terminal() {}

    /**
     * Returns whether somebody watches the error stream. {@code System.console()} tells it of the
     * other two streams only.
     */
    static boolean isErrorStream() {
        try {
            String file = ERROR_STREAM.toRealPath().toString();
            return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }
}
