package org.djlplan.cli;

import ai.djl.util.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;

/** Progress in percent: one line on a terminal, which is rewritten and cleared at the end. */
final class ProgressLine implements Progress {

    private static final int PERCENT = 100;
    private static final String BACK_AND_CLEAR = "\r\u001b[K";

    private final PrintWriter terminal;
    private String message = "";
    private long max = 1;
    private long done;
    private String shown = "";

    ProgressLine(PrintWriter terminal) {
        this.terminal = terminal;
    }

    /** Returns a progress line on the error stream, if a terminal shows that stream. */
    static Optional<Progress> ifWatched(PrintWriter err) {
        return isErrorStreamWatched() ? Optional.of(new ProgressLine(err)) : Optional.empty();
    }

    /** {@code System.console()} covers only the other two streams. */
    private static boolean isErrorStreamWatched() {
        try {
            String file = Path.of("/proc/self/fd/2").toRealPath().toString();
            return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public synchronized void reset(String newMessage, long newMax, String trailingMessage) {
        message = newMessage;
        max = Math.max(1, newMax);
        done = 0;
    }

    @Override
    public void start(long initialProgress) {
        update(initialProgress, "");
    }

    @Override
    public synchronized void increment(long increment) {
        update(done + increment, "");
    }

    @Override
    public synchronized void update(long progress, String additionalMessage) {
        done = progress;
        String line = message + " " + PERCENT * done / max + " %";
        if (!line.equals(shown)) {
            terminal.print(BACK_AND_CLEAR + line);
            terminal.flush();
            shown = line;
        }
    }

    @Override
    public synchronized void end() {
        terminal.print(shown.isEmpty() ? "" : BACK_AND_CLEAR);
        terminal.flush();
        shown = "";
    }
}
