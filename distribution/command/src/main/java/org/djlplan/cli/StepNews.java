package org.djlplan.cli;

import ai.djl.util.Progress;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Prints the steps of a command: one changing line if a terminal shows it, otherwise one line per
 * step.
 */
final class StepNews implements AutoCloseable {

    private final PrintWriter messages;
    private final Optional<Progress> line;
    private final int steps;
    private final TimeLeft timeLeft;
    private int done;

    /**
     * @param messages the error stream
     * @param steps total number of steps
     */
    StepNews(PrintWriter messages, int steps) {
        this(messages, steps, ProgressLine.ifWatched(messages), System::nanoTime);
    }

    StepNews(PrintWriter messages, int steps, Optional<Progress> line, LongSupplier nanoTime) {
        this.messages = messages;
        this.steps = steps;
        this.line = line;
        timeLeft = new TimeLeft(nanoTime);
    }

    /** Prints that the next step begins. */
    void next(String step) {
        if (line.isPresent()) {
            line.get().reset(step + timeLeft.words(done, steps), steps);
            line.get().start(Math.min(done, steps));
        } else {
            messages.println(step);
            messages.flush();
        }
        done++;
    }

    /** Clears the line. */
    @Override
    public void close() {
        line.ifPresent(Progress::end);
    }
}
