package org.djlplan.cli;

import ai.djl.util.Progress;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Progress in percent: on a terminal, or as lines from a worker process to its parent. */
abstract class ProgressLine implements Progress {

    private static final int PERCENT = 100;

    private String message = "";
    private long max = 1;
    private long done;
    private final TimeLeft timeLeft;

    ProgressLine(LongSupplier nanoTime) {
        timeLeft = new TimeLeft(nanoTime);
    }

    /** Returns a progress line on the error stream, if a terminal shows that stream. */
    static Optional<Progress> ifWatched(PrintWriter err) {
        return onTerminal(err).map(Progress.class::cast);
    }

    static Optional<OnTerminal> onTerminal(PrintWriter err) {
        return isErrorStreamWatched() ? Optional.of(new OnTerminal(err)) : Optional.empty();
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
    public final synchronized void reset(String newMessage, long newMax, String trailingMessage) {
        message = newMessage;
        max = Math.max(1, newMax);
        done = 0;
        timeLeft.begin(0);
    }

    @Override
    public final synchronized void start(long initialProgress) {
        begin(message);
        timeLeft.begin(initialProgress);
        update(initialProgress, "");
    }

    @Override
    public final synchronized void end() {
        finish();
    }

    @Override
    public final synchronized void increment(long increment) {
        update(done + increment, "");
    }

    @Override
    public final synchronized void update(long progress, String additionalMessage) {
        done = progress;
        show(message, PERCENT * done / max, timeLeft.words(done, max));
    }

    abstract void begin(String name);

    abstract void show(String name, long percent, String left);

    abstract void finish();

    /** One line that is rewritten repeatedly and cleared at the end. */
    static final class OnTerminal extends ProgressLine {

        private static final String BACK_AND_CLEAR = "\r\u001b[K";

        private final PrintWriter out;
        private String shown = "";

        /**
         * @param out a terminal
         */
        OnTerminal(PrintWriter out) {
            this(out, System::nanoTime);
        }

        OnTerminal(PrintWriter out, LongSupplier nanoTime) {
            super(nanoTime);
            this.out = out;
        }

        @Override
        void begin(String name) {
            // The first percentage prints the line.
        }

        @Override
        void show(String name, long percent, String left) {
            String line = String.format(Locale.ROOT, "%s %d %%%s", name, percent, left);
            if (!line.equals(shown)) {
                out.print(BACK_AND_CLEAR + line);
                out.flush();
                shown = line;
            }
        }

        @Override
        void finish() {
            out.print(shown.isEmpty() ? "" : BACK_AND_CLEAR);
            out.flush();
            shown = "";
        }
    }

    /** Lines on a worker's error stream, because its output stream carries the answers. */
    static final class ToParent extends ProgressLine {

        /** Prefix of each line, which distinguishes it from other output. */
        private static final String PREFIX = "djlplan-progress ";

        private static final String BEGIN = "begin ";
        private static final String END = "end";

        private final PrintStream out;
        private String told = "";

        /**
         * @param out the error stream
         */
        ToParent(PrintStream out) {
            super(System::nanoTime);
            this.out = out;
        }

        /**
         * Passes the percentage in a line on to a listener.
         *
         * @return whether the line is a progress line
         */
        static boolean read(String line, Optional<Progress> listener) {
            boolean isProgress = line.startsWith(PREFIX);
            if (isProgress) {
                listener.ifPresent(each -> pass(line.substring(PREFIX.length()), each));
            }
            return isProgress;
        }

        private static void pass(String text, Progress listener) {
            if (text.startsWith(BEGIN)) {
                listener.reset(text.substring(BEGIN.length()), PERCENT);
                listener.start(0);
            } else if (text.equals(END)) {
                listener.end();
            } else {
                Optional.ofNullable(Ints.tryParse(text)).ifPresent(listener::update);
            }
        }

        @Override
        void begin(String name) {
            tell(BEGIN + name.replace('\n', ' '));
        }

        @Override
        void show(String name, long percent, String left) {
            tell(Long.toString(percent));
        }

        @Override
        void finish() {
            tell(END);
        }

        private void tell(String text) {
            if (!text.equals(told)) {
                out.println(PREFIX + text);
                out.flush();
                told = text;
            }
        }
    }
}
