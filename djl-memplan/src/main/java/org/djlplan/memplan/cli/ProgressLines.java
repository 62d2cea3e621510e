package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import com.google.common.primitives.Ints;
import java.io.PrintStream;
import java.util.Optional;

/**
 * How far a worker's measuring is, told to its parent by lines of the error stream: the output has
 * the answers.
 */
final class ProgressLines implements Progress {

    /** Starts each line, so that nothing else is taken for one. */
    private static final String PREFIX = "djlplan-progress ";

    private static final String BEGIN = "begin ";
    private static final String END = "end";
    private static final int PERCENT = 100;

    private final PrintStream out;
    private String message = "";
    private long max = 1;
    private long done;
    private String told = "";

    /**
     * @param out the error stream
     */
    ProgressLines(PrintStream out) {
        this.out = out;
    }

    /**
     * Hands on what a line says, in percent.
     *
     * @return whether it is one of these lines
     */
    static boolean read(String line, Progress listener) {
        if (!line.startsWith(PREFIX)) {
            return false;
        }
        String text = line.substring(PREFIX.length());
        if (text.startsWith(BEGIN)) {
            listener.reset(text.substring(BEGIN.length()), PERCENT);
            listener.start(0);
        } else if (text.equals(END)) {
            listener.end();
        } else {
            Optional.ofNullable(Ints.tryParse(text)).ifPresent(listener::update);
        }
        return true;
    }

    @Override
    public synchronized void reset(String newMessage, long newMax, String trailingMessage) {
        message = newMessage;
        max = Math.max(1, newMax);
        done = 0;
    }

    @Override
    public synchronized void start(long initialProgress) {
        tell(BEGIN + message.replace('\n', ' '));
        update(initialProgress, "");
    }

    @Override
    public synchronized void end() {
        tell(END);
    }

    @Override
    public synchronized void increment(long increment) {
        update(done + increment, "");
    }

    @Override
    public synchronized void update(long progress, String additionalMessage) {
        done = progress;
        tell(Long.toString(PERCENT * done / max));
    }

    private void tell(String text) {
        if (!text.equals(told)) {
            out.println(PREFIX + text);
            out.flush();
            told = text;
        }
    }
}
