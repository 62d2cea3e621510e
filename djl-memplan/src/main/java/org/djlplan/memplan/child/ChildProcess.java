package org.djlplan.memplan.child;

import com.google.common.collect.ImmutableList;
import com.google.common.util.concurrent.Uninterruptibles;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The parent's end of the connection to a child process, which must use {@link ParentConnection}.
 * For one thread at a time; may be closed by another meanwhile.
 *
 * <p>The child does not outlive this process, however that ends: it stops as soon as the pipe to it
 * is closed.
 */
public final class ChildProcess implements AutoCloseable {

    private static final Duration END_PATIENCE = Duration.ofSeconds(5);

    /** The exit code of a process that a signal ended is this and the signal's number. */
    private static final int SIGNALED = 128;

    private static final int HIGHEST_SIGNAL = 64;

    /** Nobody else sends this signal, and this class does only when it has no answer to give. */
    private static final int KILLED = SIGNALED + 9;

    private final Process process;
    private final Thread errorReader;

    /** An empty one is the end of the child's output. */
    private final BlockingQueue<Optional<Answer>> answers = new LinkedBlockingQueue<>();

    private final LastWords lastWords = new LastWords();

    /**
     * Starts a child.
     *
     * @throws IOException if that is not possible
     */
    public static ChildProcess start(ProcessBuilder builder) throws IOException {
        return start(builder, line -> {});
    }

    /**
     * Starts a child.
     *
     * @param log gets each line of its error stream, on another thread
     * @throws IOException if that is not possible
     */
    public static ChildProcess start(ProcessBuilder builder, Consumer<String> log)
            throws IOException {
        return new ChildProcess(builder.start(), log);
    }

    private ChildProcess(Process process, Consumer<String> log) {
        this.process = process;
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

    /** Asks for a step and waits for the answer. */
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

    /** Waits for an answer that the child gives without being asked. */
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

    /** Returns what the child wrote last on its error stream, at most a few lines. */
    public ImmutableList<String> lastErrorLines() {
        return lastWords.lines();
    }

    /** Ends the child in whatever it is doing, and waits a few seconds for its end at most. */
    public void kill() {
        process.destroyForcibly();
        boolean unused = waitForEnd();
    }

    /** Ends the child. Does nothing if it has ended. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // Its end of the pipe is closed: it has ended already.
        }
        if (!waitForEnd()) {
            kill();
        }
    }

    private Answer.Lost lost() {
        String how = "closed its output";
        boolean outOfMemory = false;
        if (waitForEnd()) {
            how = "ended with " + exit(process.exitValue());
            outOfMemory = process.exitValue() == KILLED;
        } else {
            kill();
        }
        return new Answer.Lost(how + "; its last words: " + lastWords.summary(), outOfMemory);
    }

    private static String exit(int code) {
        if (code == KILLED) {
            return "exit code " + code + " (out of memory: killed by the system)";
        }
        int signal = code - SIGNALED;
        return signal > 0 && signal <= HIGHEST_SIGNAL
                ? "exit code " + code + " (signal " + signal + ")"
                : "exit code " + code;
    }

    /** An interrupted thread waits too: what it started must not be left behind. */
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
                new Thread(
                        () -> {
                            try (in) {
                                CutLines.forEach(in, taker);
                            } catch (IOException e) {
                                // The child has ended in the middle of a line.
                            } finally {
                                atEnd.run();
                            }
                        },
                        "child-output");
        reader.setDaemon(true);
        reader.start();
        return reader;
    }
}
