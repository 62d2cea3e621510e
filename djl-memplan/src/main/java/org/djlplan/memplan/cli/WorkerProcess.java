package org.djlplan.memplan.cli;

import com.google.common.collect.EvictingQueue;
import com.google.common.collect.ImmutableList;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A child process that runs one model one way ({@link WorkerCommand}), so that nothing but the
 * model shows in its memory figures, and a crash of native code is an error message here.
 *
 * <p>It loads the model when it starts. Then it may be asked, in any order, to warm up, to write
 * outputs and to time predictions, and at the end for its figures. It does not outlive this
 * process, however that ends: it stops as soon as the pipe to it is closed.
 */
final class WorkerProcess implements AutoCloseable {

    private static final int LAST_ERROR_LINES = 8;
    private static final Duration END_PATIENCE = Duration.ofSeconds(5);

    private final String name;
    private final Duration timeout;
    private final Process process;
    private final Thread errorReader;
    private final BlockingQueue<Optional<String>> replies = new LinkedBlockingQueue<>();
    private final EvictingQueue<String> errors = EvictingQueue.create(LAST_ERROR_LINES);

    /** Starts a child that loads the model. */
    static WorkerProcess start(Contestant contestant, RunOptions options) {
        ImmutableList.Builder<String> command =
                ImmutableList.<String>builder()
                        .addAll(WorkerJvm.command(options))
                        .add(DjlPlan.class.getName(), "worker");
        if (contestant.stock()) {
            command.add("--stock");
        }
        command.addAll(options.toArguments());
        ProcessBuilder builder = new ProcessBuilder(command.build());
        builder.environment().putAll(contestant.environment());
        try {
            return new WorkerProcess(
                    contestant.name(), options.effort().timeout(), builder.start());
        } catch (IOException e) {
            throw new Failure("cannot start a process for the " + contestant.name() + " model", e);
        }
    }

    private WorkerProcess(String name, Duration timeout, Process process) {
        this.name = name;
        this.timeout = timeout;
        this.process = process;
        read(process.inputReader(StandardCharsets.UTF_8), this::takeReply, this::endReplies);
        errorReader = read(process.errorReader(StandardCharsets.UTF_8), this::takeError, () -> {});
    }

    /** Waits until the model is loaded. */
    void awaitLoaded() {
        JsonElement unused = await("loading");
    }

    /** Runs the untimed predictions. */
    void warmUp() {
        JsonElement unused = ask("warming up", request("warmUp"));
    }

    /** Writes the outputs of the fixed inputs into a file; returns type and bytes of each. */
    JsonArray writeOutputs(Path file) {
        JsonObject request = request("outputs");
        request.addProperty("file", file.toAbsolutePath().toString());
        return ask("predicting", request).getAsJsonArray();
    }

    /** Times predictions. */
    void time(int count) {
        JsonObject request = request("time");
        request.addProperty("count", count);
        JsonElement unused = ask("timing", request);
    }

    /** Returns the figures of all that was timed. */
    RunFigures figures() {
        return RunFigures.fromJson(ask("reporting", request("figures")).getAsJsonObject());
    }

    /** Closes the model and waits until that is done; nothing can be asked afterwards. */
    void finish() {
        JsonElement unused = ask("closing", request("finish"));
    }

    /** Returns what the child wrote last on its error stream, at most a few lines. */
    ImmutableList<String> lastErrorLines() {
        synchronized (errors) {
            return ImmutableList.copyOf(errors);
        }
    }

    /** Ends the child. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // Its end of the pipe is closed: it has ended already.
        }
        waitForEnd(END_PATIENCE);
        process.destroyForcibly();
    }

    private static JsonObject request(String step) {
        JsonObject request = new JsonObject();
        request.addProperty("step", step);
        return request;
    }

    private JsonElement ask(String doing, JsonObject request) {
        try {
            OutputStream out = process.getOutputStream();
            out.write((request + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            throw died(doing);
        }
        return await(doing);
    }

    private JsonElement await(String doing) {
        Optional<String> line = nextReply(doing);
        if (line.isEmpty()) {
            throw died(doing);
        }
        JsonObject reply = JsonParser.parseString(line.get()).getAsJsonObject();
        if (reply.has("error")) {
            throw new Failure(name + ": " + reply.get("error").getAsString());
        }
        return reply.get("result");
    }

    private Optional<String> nextReply(String doing) {
        try {
            Optional<String> line = replies.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (line == null) {
                throw new Failure(
                        "%s: %s took more than %d s (see --timeout)"
                                .formatted(name, doing, timeout.toSeconds()));
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure("interrupted while " + doing + " the " + name + " model");
        }
    }

    private Failure died(String doing) {
        waitForEnd(END_PATIENCE);
        String ending = process.isAlive() ? "closed its pipe" : "ended";
        String code = process.isAlive() ? "" : " with exit code " + process.exitValue();
        return new Failure(
                "%s: the process %s%s while %s; its last words: %s"
                        .formatted(name, ending, code, doing, lastWords()));
    }

    private String lastWords() {
        List<String> lines = lastErrorLines();
        return lines.isEmpty() ? "(none)" : String.join(" | ", lines);
    }

    private void waitForEnd(Duration patience) {
        try {
            if (process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                errorReader.join(patience.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void takeReply(String line) {
        if (line.startsWith(WorkerCommand.REPLY_PREFIX)) {
            replies.add(Optional.of(line.substring(WorkerCommand.REPLY_PREFIX.length())));
        }
    }

    private void endReplies() {
        replies.add(Optional.empty());
    }

    private void takeError(String line) {
        if (line.isBlank() || line.equals("#")) {
            return;
        }
        synchronized (errors) {
            errors.add(line.strip());
        }
    }

    private static Thread read(BufferedReader in, Consumer<String> taker, Runnable atEnd) {
        Thread reader =
                new Thread(
                        () -> {
                            try (in) {
                                in.lines().forEach(taker);
                            } catch (IOException | UncheckedIOException e) {
                                // The child has ended in the middle of a line.
                            } finally {
                                atEnd.run();
                            }
                        },
                        "worker-output");
        reader.setDaemon(true);
        reader.start();
        return reader;
    }
}
