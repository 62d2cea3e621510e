package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * News of a command's steps: one line that changes where a terminal shows it, else a line for each.
 * What a worker process tells of its own progress is not shown.
 */
final class StepNews implements AutoCloseable {

    private static final long WORTH_TELLING_SECONDS = 5;

    private final PrintWriter messages;
    private final Optional<Progress> line;
    private final int steps;
    private final long start = System.nanoTime();
    private int done;

    /**
     * @param messages the error stream
     * @param steps how many there will be
     */
    StepNews(PrintWriter messages, int steps) {
        this.messages = messages;
        this.steps = steps;
        line = ProgressLine.ifWatched(messages);
    }

    /** Tells that the next step begins. */
    void next(String step) {
        if (line.isPresent()) {
            line.get().reset(step + timeLeft(), steps);
            line.get().start(Math.min(done, steps));
        } else {
            messages.println(step);
            messages.flush();
        }
        done++;
    }

    /** Steps take about as long as those before them; less than some seconds nobody waits for. */
    private String timeLeft() {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        if (done == 0 || done >= steps || seconds < WORTH_TELLING_SECONDS) {
            return "";
        }
        return " (about " + seconds * (steps - done) / done + " s left)";
    }

    /** Returns the progress of a worker process, of which nobody is told. */
    static Progress ofWorker() {
        return new Progress() {
            @Override
            public void reset(String message, long max, String trailingMessage) {}

            @Override
            public void start(long initialProgress) {}

            @Override
            public void end() {}

            @Override
            public void increment(long increment) {}

            @Override
            public void update(long progress, String additionalMessage) {}
        };
    }

    /** Clears the line. */
    @Override
    public void close() {
        line.ifPresent(Progress::end);
    }
}
