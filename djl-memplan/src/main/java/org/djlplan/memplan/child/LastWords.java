package org.djlplan.memplan.child;

import com.google.common.collect.EvictingQueue;
import com.google.common.collect.ImmutableList;
import java.util.ArrayList;
import java.util.List;

/**
 * What a child wrote last on its error stream, and what its JVM wrote of a crash, for which some
 * take the output. For any number of threads.
 */
final class LastWords {

    private static final int LINES = 8;

    /** Starts each line that a JVM writes when native code crashed it. */
    private static final String CRASH_MARK = "#";

    /** What matters of those lines begins with one of these, or follows {@link #FRAME_FOLLOWS}. */
    private static final ImmutableList<String> CAUSES =
            ImmutableList.of("SIG", "Internal Error", "Native memory allocation");

    private static final String FRAME_FOLLOWS = "# Problematic frame:";

    private final EvictingQueue<String> lines = EvictingQueue.create(LINES);

    /** The signal and the function it came from. */
    private final List<String> crash = new ArrayList<>();

    private boolean frameFollows;

    /** Takes a line of the error stream. */
    synchronized void addError(String line) {
        String text = line.strip();
        if (text.startsWith(CRASH_MARK)) {
            addOutput(line);
        } else if (!text.isEmpty()) {
            lines.add(text);
        }
    }

    /** Takes a line of the output, of which only a crash matters. */
    synchronized void addOutput(String line) {
        String text = line.strip();
        if (!text.startsWith(CRASH_MARK)) {
            return;
        }
        String content = text.substring(CRASH_MARK.length()).strip();
        if (frameFollows || CAUSES.stream().anyMatch(content::startsWith)) {
            crash.add(content);
        }
        frameFollows = text.equals(FRAME_FOLLOWS);
    }

    /** Returns the last few lines, without what a JVM says about a crash. */
    synchronized ImmutableList<String> lines() {
        return ImmutableList.copyOf(lines);
    }

    /** Returns the crash if there was one, else the last few lines, in one line. */
    synchronized String summary() {
        List<String> words = crash.isEmpty() ? ImmutableList.copyOf(lines) : crash;
        return words.isEmpty() ? "(none)" : String.join(" | ", words);
    }
}
