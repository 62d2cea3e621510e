package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import com.google.common.collect.ImmutableList;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.djlplan.memplan.child.ChildProcess;
import org.djlplan.memplan.child.ChildProcess.Answer;

/**
 * A child process that runs one model one way ({@link WorkerCommand}), so that nothing but the
 * model shows in its memory figures, and a crash of native code is an error message here.
 *
 * <p>It loads the model when it starts. Then it may be asked, in any order, to warm up, to write
 * outputs and to time predictions, and at the end for its figures. It does not outlive this
 * process, however that ends: it stops as soon as the pipe to it is closed.
 */
final class WorkerProcess implements AutoCloseable {

    private final String name;
    private final Duration timeout;
    private final ChildProcess process;
    private final WorkerErrors errors;

    /**
     * Starts a child that loads the model.
     *
     * @param progress told how far measuring is, if it measures what to delegate
     */
    static WorkerProcess start(Contestant contestant, RunOptions options, Progress progress) {
        ImmutableList.Builder<String> command =
                ImmutableList.<String>builder()
                        .addAll(WorkerJvm.command(options))
                        .add(DjlPlan.class.getName(), "worker")
                        .add("--way", contestant.way().label());
        command.addAll(options.toArguments());
        ProcessBuilder builder = new ProcessBuilder(command.build());
        builder.environment().putAll(contestant.environment());
        WorkerErrors errors = new WorkerErrors(progress);
        try {
            return new WorkerProcess(
                    contestant.name(),
                    options.effort().timeout(),
                    ChildProcess.start(builder, errors),
                    errors);
        } catch (IOException e) {
            throw new Failure("cannot start a process for the " + contestant.name() + " model", e);
        }
    }

    private WorkerProcess(
            String name, Duration timeout, ChildProcess process, WorkerErrors errors) {
        this.name = name;
        this.timeout = timeout;
        this.process = process;
        this.errors = errors;
    }

    /** Waits until the model is loaded. */
    void awaitLoaded() {
        JsonElement unused = waiting("loading", () -> process.await(timeout));
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

    /** Returns what the child wrote last on its error stream for a user, at most a few lines. */
    ImmutableList<String> lastErrorLines() {
        return errors.lines();
    }

    /** Ends the child. */
    @Override
    public void close() {
        process.close();
        // It may have died in the middle of a line of progress.
        errors.end();
    }

    private static JsonObject request(String step) {
        JsonObject request = new JsonObject();
        request.addProperty("step", step);
        return request;
    }

    private JsonElement ask(String doing, JsonObject request) {
        return waiting(doing, () -> process.ask(request, timeout));
    }

    private interface Question {
        Answer ask() throws InterruptedException;
    }

    private JsonElement waiting(String doing, Question question) {
        Answer answer;
        try {
            answer = question.ask();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure("interrupted while " + doing + " the " + name + " model");
        }
        if (answer instanceof Answer.Result result) {
            return result.value();
        }
        if (answer instanceof Answer.Failure failure) {
            throw new Failure(name + ": " + failure.message());
        }
        if (answer instanceof Answer.Lost lost) {
            throw new Failure("%s: while %s, the process %s".formatted(name, doing, lost.how()));
        }
        throw new Failure(
                "%s: %s took more than %d s (see --timeout)"
                        .formatted(name, doing, timeout.toSeconds()));
    }
}
