package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import com.google.common.collect.EvictingQueue;
import com.google.common.collect.ImmutableList;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * What a worker wrote on its error stream that a user is to see: the last few lines, without
 * progress and without what native code tells of itself, such as which delegate it created. It is
 * printed by the parent before its results, never between them. For any number of threads.
 */
final class WorkerErrors implements Consumer<String> {

    private static final int LINES = 8;

    /** So begin the engine's own news; warnings and errors begin otherwise. */
    private static final String NATIVE_NEWS = "INFO: ";

    /** So begins what a JVM says of a crash, which the exit code tells. */
    private static final String CRASH = "#";

    private final Progress progress;
    private final Queue<String> lines = EvictingQueue.create(LINES);

    /**
     * @param progress told how far the worker's measuring is
     */
    WorkerErrors(Progress progress) {
        this.progress = progress;
    }

    @Override
    public void accept(String line) {
        if (ProgressLines.read(line, progress)) {
            return;
        }
        String text = line.strip();
        if (!text.isEmpty() && !text.startsWith(NATIVE_NEWS) && !text.startsWith(CRASH)) {
            synchronized (lines) {
                lines.add(text);
            }
        }
    }

    ImmutableList<String> lines() {
        synchronized (lines) {
            return ImmutableList.copyOf(lines);
        }
    }
}
