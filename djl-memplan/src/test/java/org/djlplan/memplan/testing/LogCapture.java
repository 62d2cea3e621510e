package org.djlplan.memplan.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Captures the log until it is closed. slf4j-simple writes to the current error stream. */
public final class LogCapture implements AutoCloseable {

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final boolean echo;

    /** Captures the error stream, and shows nothing of it. */
    public LogCapture() {
        this(false);
    }

    private LogCapture(boolean echo) {
        this.echo = echo;
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    }

    /** Captures the error stream, and writes the captured text there when closed. */
    public static LogCapture echoing() {
        return new LogCapture(true);
    }

    /** Returns all lines so far. */
    public List<String> lines() {
        return written.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** Returns the lines of a level, for example {@code WARN}. */
    public List<String> lines(String level) {
        return lines().stream().filter(line -> line.contains("] " + level + " ")).toList();
    }

    /** Returns the lines that djl-plan logged at a level. */
    public List<String> ours(String level) {
        return lines().stream()
                .filter(line -> line.contains("] " + level + " org.djlplan."))
                .toList();
    }

    @Override
    public void close() {
        System.setErr(before);
        if (echo) {
            before.print(written.toString(StandardCharsets.UTF_8));
        }
    }
}
