package org.djlplan.cli;

import ai.djl.util.Progress;
import java.io.PrintWriter;
import java.util.Optional;

/**
 * Prints a message that a model is about to be measured, then the progress if a terminal shows it.
 */
final class MeasuringNews implements Progress {

    private final PrintWriter messages;
    private final String model;
    private final Optional<Progress> line;
    private boolean told;

    /**
     * @param messages the error stream
     * @param model its name
     */
    MeasuringNews(PrintWriter messages, String model) {
        this.messages = messages;
        this.model = model;
        line = ProgressLine.ifWatched(messages);
    }

    @Override
    public synchronized void reset(String message, long max, String trailingMessage) {
        if (!told) {
            messages.println(
                    "no measurement of "
                            + model
                            + " is stored: it is measured first, which takes some seconds; every"
                            + " load uses the result");
            messages.flush();
            told = true;
        }
        line.ifPresent(l -> l.reset(message, max, trailingMessage));
    }

    @Override
    public void start(long initialProgress) {
        line.ifPresent(l -> l.start(initialProgress));
    }

    @Override
    public void end() {
        line.ifPresent(Progress::end);
    }

    @Override
    public void increment(long increment) {
        line.ifPresent(l -> l.increment(increment));
    }

    @Override
    public void update(long progress, String additionalMessage) {
        line.ifPresent(l -> l.update(progress, additionalMessage));
    }
}
