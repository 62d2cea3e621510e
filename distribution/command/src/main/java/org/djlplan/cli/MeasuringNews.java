package org.djlplan.cli;

import ai.djl.util.Progress;

/**
 * Tells from a worker process that a model is about to be measured, on the error stream, because
 * the output stream has the answers.
 */
final class MeasuringNews implements Progress {

    /** Prefix of lines that the parent process prints at once. */
    static final String PREFIX = "djlplan-news ";

    private final String model;
    private boolean told;

    /**
     * @param model its name
     */
    MeasuringNews(String model) {
        this.model = model;
    }

    @Override
    public synchronized void start(long initialProgress) {
        if (!told) {
            System.err.println(
                    PREFIX
                            + "no measurement of "
                            + TextTable.plain(model)
                            + " is stored: it is measured first, which takes some seconds; every"
                            + " load uses the result");
            told = true;
        }
    }

    @Override
    public void reset(String message, long max, String trailingMessage) {
        // Only the start is of interest.
    }

    @Override
    public void end() {
        // Only the start is of interest.
    }

    @Override
    public void increment(long increment) {
        // Only the start is of interest.
    }

    @Override
    public void update(long progress, String additionalMessage) {
        // Only the start is of interest.
    }
}
