package org.djlplan.memplan.internal.child;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * The parent's end of the connection to a child process, which must use {@link ParentConnection}.
 * Not thread-safe, but another thread may close it.
 *
 * <p>The child never outlives this process, because it ends as soon as the pipe to it is closed.
 */
public final class ChildProcess implements AutoCloseable {

    private static final Duration END_PATIENCE = Duration.ofSeconds(5);

    /** A process that a signal ended has this plus the signal's number as its exit code. */
    private static final int SIGNALED = 128;

    private static final int HIGHEST_SIGNAL = 64;

    private static final int KILLED = SIGNALED + 9;

    /** Hangup, interrupt from the keyboard, and termination. */
    private static final ImmutableSet<Integer> ASKED_TO_END =
            ImmutableSet.of(SIGNALED + 1, SIGNALED + 2, SIGNALED + 15);

    private static final double MEGA = 1e6;

    private final Process process;
    private final Thread errorReader;

    /** An empty entry is the end of the child's output. */
    private final BlockingQueue<Optional<Answer>> answers = new LinkedBlockingQueue<>();

    private final LastWords lastWords = new LastWords();

    private final Machine machine;

    /** Number of processes that the system had killed for memory when this one started. */
    private final OptionalLong killsBefore;

    /**
     * Starts a child.
     *
     * @param log receives each line of the error stream, on another thread
     * @throws IOException if the process cannot be started
     */
    public static ChildProcess start(ProcessBuilder builder, Consumer<String> log)
            throws IOException {
        return new ChildProcess(builder, log, new Machine());
    }

    ChildProcess(ProcessBuilder builder, Consumer<String> log, Machine machine) throws IOException {
        this.machine = machine;
        killsBefore = machine.memoryKills();
        process = builder.start();
        read(
                process.inputReader(StandardCharsets.UTF_8),
                this::takeLine,
                () -> answers.add(Optional.empty()));
        errorReader =
                read(
                        process.errorReader(StandardCharsets.UTF_8),
                        line -> {
                            lastWords.addError(line);
                            log.accept(line);
                        },
                        () -> {});
    }

    /** Returns the process's id. */
    public long pid() {
        return process.pid();
    }

    /** Sends a request and waits for the answer. */
    public Answer ask(JsonObject request, Duration patience) throws InterruptedException {
        try {
            OutputStream out = process.getOutputStream();
            out.write((request + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            return lost();
        }
        return await(patience);
    }

    /** Waits for an answer that the child sends without a request. */
    public Answer await(Duration patience) throws InterruptedException {
        Optional<Answer> answer = answers.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
        if (answer == null) {
            return new Answer.Silent(patience);
        }
        if (answer.isEmpty()) {
            return lost();
        }
        if (answer.get() instanceof Answer.Lost) {
            kill();
        }
        return answer.get();
    }

    /** Returns the last lines that the child wrote to its error stream, at most a few. */
    public ImmutableList<String> lastErrorLines() {
        return lastWords.lines();
    }

    /** Kills the child, and waits at most a few seconds for its end. */
    public void kill() {
        process.destroyForcibly();
        boolean unused = waitForEnd();
    }

    /** Ends the child. A second call does nothing. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // The child's end of the pipe is closed, so it has already ended.
        }
        if (!waitForEnd()) {
            kill();
        }
    }

    private Answer.Lost lost() {
        if (!waitForEnd()) {
            kill();
            return lost("closed its output", End.OTHER);
        }
        int code = process.exitValue();
        if (code == KILLED) {
            return killed();
        }
        return lost(
                "ended with " + exit(code), ASKED_TO_END.contains(code) ? End.ASKED : End.OTHER);
    }

    private Answer.Lost lost(String how, End end) {
        return new Answer.Lost(how + "; its last words: " + lastWords.summary(), end);
    }

    /** Earlier output says nothing about the reason of its end. */
    private Answer.Lost killed() {
        OptionalLong kills = machine.memoryKills();
        if (killsBefore.isEmpty() || kills.isEmpty()) {
            return new Answer.Lost(
                    "was killed (signal 9), perhaps as memory had run out", End.OUT_OF_MEMORY);
        }
        if (kills.getAsLong() == killsBefore.getAsLong()) {
            return new Answer.Lost("was killed (signal 9), not for want of memory", End.KILLED);
        }
        OptionalLong limit = machine.containerLimitBytes();
        return new Answer.Lost(
                "was killed by the system, as memory had run out"
                        + (limit.isPresent()
                                ? " (the limit is %.0f MB)".formatted(limit.getAsLong() / MEGA)
                                : "")
                        + "; djlplan size MODEL measures how much is enough",
                End.OUT_OF_MEMORY);
    }

    private static String exit(int code) {
        int signal = code - SIGNALED;
        return signal > 0 && signal <= HIGHEST_SIGNAL
                ? "exit code " + code + " (signal " + signal + ")"
                : "exit code " + code;
    }

    /** An interrupted thread waits, too, so that no process is left behind. */
    private boolean waitForEnd() {
        try {
            Uninterruptibles.getUninterruptibly(process.onExit(), END_PATIENCE);
            Uninterruptibles.joinUninterruptibly(errorReader, END_PATIENCE);
            return true;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    private void takeLine(String line) {
        Optional<Answer> answer = ReplyLine.read(line);
        if (answer.isPresent()) {
            answers.add(answer);
        } else {
            lastWords.addOutput(line);
        }
    }

    private static Thread read(BufferedReader in, Consumer<String> taker, Runnable atEnd) {
        Thread reader =
                DaemonThreads.make(
                        () -> {
                            try (in) {
                                CutLines.forEach(in, taker);
                            } catch (IOException e) {
                                // The child ended in the middle of a line.
                            } finally {
                                atEnd.run();
                            }
                        },
                        "child-output");
        reader.start();
        return reader;
    }

    /** Why a child ended. */
    public enum End {
        /** The system killed it because memory ran out. */
        OUT_OF_MEMORY,
        /** It was killed for another reason. */
        KILLED,
        /**
         * A signal asked it to end. Terminals and service managers send such signals to all
         * processes of a group, so this process may have received it, too.
         */
        ASKED,
        /** It crashed, exited, or was ended because it did not answer. */
        OTHER
    }

    /** The answer to a request, or the reason why there is none. */
    public sealed interface Answer {

        /**
         * The request was carried out.
         *
         * @param value the child's answer
         */
        record Result(JsonElement value) implements Answer {}

        /**
         * The child reported a failure, and still runs.
         *
         * @param kind one word defined by parent and child
         * @param message a message for people, in one line
         */
        record Failure(String kind, String message) implements Answer {}

        /**
         * The child ended, or sent an invalid answer and was ended.
         *
         * @param how how the child ended, in one line for people; begins with a verb: "ended with
         *     exit code 1; …"
         * @param end the reason, as far as known
         */
        record Lost(String how, End end) implements Answer {}

        /**
         * No answer arrived in time. The child still runs.
         *
         * @param patience the time limit
         */
        record Silent(Duration patience) implements Answer {}
    }

    /**
     * Collects the last lines of a child's error stream, and the lines that its JVM wrote about a
     * crash (some JVMs write these to the standard output). Thread-safe.
     */
    static final class LastWords {

        private static final int LINES = 8;

        /** Prefix of each line that a JVM writes when native code crashed it. */
        private static final String CRASH_MARK = "#";

        /**
         * The relevant lines of a crash start with one of these, or follow {@link #FRAME_FOLLOWS}.
         */
        private static final ImmutableList<String> CAUSES =
                ImmutableList.of("SIG", "Internal Error", "Native memory allocation");

        private static final String FRAME_FOLLOWS = "# Problematic frame:";

        private static final Pattern DIGITS = Pattern.compile("\\d+");

        /** The last lines, the latest last; lines that differ only in digits count as the same. */
        private final Map<String, Repeated> lines = new LinkedHashMap<>();

        /** The signal and the function that raised it. */
        private final List<String> crash = new ArrayList<>();

        private boolean frameFollows;

        /** Adds a line of the error stream. */
        synchronized void addError(String line) {
            String text = line.strip();
            if (text.startsWith(CRASH_MARK)) {
                addOutput(line);
            } else if (!text.isEmpty()) {
                addLine(text);
            }
        }

        private void addLine(String text) {
            String pattern = DIGITS.matcher(text).replaceAll("0");
            Repeated before = lines.remove(pattern);
            lines.put(pattern, new Repeated(text, before == null ? 1 : before.times + 1));
            if (lines.size() > LINES) {
                lines.remove(lines.keySet().iterator().next());
            }
        }

        /** A line, and its number of occurrences. */
        private record Repeated(String line, int times) {}

        /** Adds a line of the output, of which only crash messages are used. */
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

        /** Returns the last few lines, without crash messages. */
        synchronized ImmutableList<String> lines() {
            return lines.values().stream()
                    .map(
                            each ->
                                    each.times == 1
                                            ? each.line
                                            : each.line + " (" + each.times + " times)")
                    .collect(ImmutableList.toImmutableList());
        }

        /** Returns the crash if there was one, otherwise the last few lines, in one line. */
        synchronized String summary() {
            List<String> words = crash.isEmpty() ? lines() : crash;
            return words.isEmpty() ? "(none)" : String.join(" | ", words);
        }
    }

    /**
     * Reads lines of limited length and drops the rest of longer ones, because a child may write
     * anything.
     */
    static final class CutLines {

        /** Enough for an answer about 100,000 operators. */
        private static final int LONGEST = 16 << 20;

        private CutLines() {}

        /** Passes on each line without its line break, until the input ends. */
        static void forEach(Reader in, Consumer<String> taker) throws IOException {
            forEach(in, LONGEST, taker);
        }

        static void forEach(Reader in, int longest, Consumer<String> taker) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c >= 0; c = in.read()) {
                if (c == '\n') {
                    taker.accept(line.toString());
                    line = new StringBuilder();
                } else if (line.length() < longest) {
                    line.append((char) c);
                }
            }
            if (!line.isEmpty()) {
                taker.accept(line.toString());
            }
        }
    }
}
