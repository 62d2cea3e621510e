package org.djlplan.memplan.store;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while it is open. slf4j-simple writes to whatever the error stream is. */
public final class LogCapture implements AutoCloseable {

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    public LogCapture() {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    }

    /** Returns the lines of a level, for example {@code WARN}. */
    public List<String> lines(String level) {
        return lines().stream().filter(line -> line.contains("] " + level + " ")).toList();
    }

    public List<String> lines() {
        return written.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
