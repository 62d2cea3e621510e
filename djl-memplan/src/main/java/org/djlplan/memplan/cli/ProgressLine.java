package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;

/** Progress as one line that is written over and over, and cleared at the end. */
public final class ProgressLine implements Progress {

    private static final int PERCENT = 100;
    private static final String BACK_AND_CLEAR = "\r\u001b[K";

    private final PrintWriter out;
    private String message = "";
    private long max = 1;
    private long done;
    private String shown = "";

    /**
     * @param out a terminal
     */
    ProgressLine(PrintWriter out) {
        this.out = out;
    }

    /** Returns one on the error stream, if somebody can watch it there. */
    public static Optional<Progress> ifWatched(PrintWriter err) {
        return Terminal.isErrorStream() ? Optional.of(new ProgressLine(err)) : Optional.empty();
    }

    @Override
    public synchronized void reset(String newMessage, long newMax, String trailingMessage) {
        message = newMessage;
        max = Math.max(1, newMax);
        done = 0;
    }

    @Override
    public synchronized void start(long initialProgress) {
        update(initialProgress, "");
    }

    @Override
    public synchronized void end() {
        out.print(shown.isEmpty() ? "" : BACK_AND_CLEAR);
        out.flush();
        shown = "";
    }

    @Override
    public synchronized void increment(long increment) {
        update(done + increment, "");
    }

    @Override
    public synchronized void update(long progress, String additionalMessage) {
        done = progress;
        String line = String.format(Locale.ROOT, "%s %d %%", message, PERCENT * done / max);
        if (!line.equals(shown)) {
            out.print(BACK_AND_CLEAR + line);
            out.flush();
            shown = line;
        }
    }
}
