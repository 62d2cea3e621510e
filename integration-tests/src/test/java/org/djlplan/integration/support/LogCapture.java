package org.djlplan.integration.support;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while it is open. slf4j-simple writes to whatever the error stream is. */
public final class LogCapture implements AutoCloseable {

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    /** Takes the error stream. */
    public LogCapture() {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    }

    /** Returns the lines that djl-plan logged at a level, for example {@code WARN}. */
    public List<String> ours(String level) {
        return written.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("] " + level + " org.djlplan."))
                .toList();
    }

    @Override
    public void close() {
        System.setErr(before);
        before.print(written.toString(StandardCharsets.UTF_8));
    }
}
