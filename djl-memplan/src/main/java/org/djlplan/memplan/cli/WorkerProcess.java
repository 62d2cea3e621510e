package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import com.google.common.collect.EvictingQueue;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Streams;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.djlplan.memplan.budget.ResidentWeights;
import org.djlplan.memplan.child.ChildProcess;
import org.djlplan.memplan.child.ChildProcess.Answer;
import org.djlplan.memplan.child.JavaCommand;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.runtime.ProcessMemory;
import org.djlplan.memplan.runtime.torch.OperatorNames;

/**
 * A child process that runs one model one way ({@link WorkerCommand}), so that nothing but the
 * model shows in its memory figures, and a crash of native code is an error message here.
 *
 * <p>It loads its engine when it starts, and the model when it is asked to. Then it may be asked,
 * in any order, to warm up, to write outputs and to time predictions, and at the end for its
 * figures. It does not outlive this process, however that ends: it stops as soon as the pipe to it
 * is closed.
 */
final class WorkerProcess implements AutoCloseable {

    private final String name;
    private final Duration timeout;
    private final ChildProcess process;
    private final Errors errors;

    /**
     * Starts a child that loads the engine.
     *
     * @param progress told how far measuring is, if it measures what to delegate
     */
    static WorkerProcess start(Contestant contestant, RunOptions options, Progress progress) {
        return start(
                contestant, options, progress, List.of(), options.engine() == EngineKind.TFLITE);
    }

    /**
     * The same with a program that starts the child.
     *
     * @param starter what to put before the command
     * @param optimizing whether the JVM's optimizing compiler is on, whose memory comes and goes
     */
    static WorkerProcess start(
            Contestant contestant,
            RunOptions options,
            Progress progress,
            List<String> starter,
            boolean optimizing) {
        ImmutableList.Builder<String> command =
                ImmutableList.<String>builder()
                        .addAll(starter)
                        .addAll(Jvm.command(options, optimizing, contestant.classPath()))
                        .add(DjlPlan.class.getName(), "worker")
                        .add("--way", contestant.way().label());
        command.addAll(options.toArguments());
        ProcessBuilder builder = new ProcessBuilder(command.build());
        builder.environment().putAll(contestant.environment());
        Errors errors = new Errors(progress);
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

    private WorkerProcess(String name, Duration timeout, ChildProcess process, Errors errors) {
        this.name = name;
        this.timeout = timeout;
        this.process = process;
        this.errors = errors;
    }

    /** Waits until the engine is loaded, and has run a small model. */
    void awaitIdle() {
        JsonElement unused = waiting("starting", () -> process.await(timeout));
    }

    /**
     * Loads the model.
     *
     * @throws Failure.TooSmall if it cannot run in its budget
     */
    void load() {
        if (ask("loading", request("load")) instanceof JsonObject refusal) {
            throw new Failure.TooSmall(
                    refusal.get("message").getAsString(), refusal.get("leastBytes").getAsLong());
        }
    }

    /** Waits until the engine is loaded, and loads the model. */
    void awaitLoaded() {
        awaitIdle();
        load();
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

    /** Times predictions; returns the nanoseconds of each. */
    long[] time(int count) {
        JsonObject request = request("time");
        request.addProperty("count", count);
        return Streams.stream(ask("timing", request).getAsJsonArray())
                .mapToLong(JsonElement::getAsLong)
                .toArray();
    }

    /** Runs predictions on several threads at once, so many on each, without timing them. */
    void runAtOnce(int threads, int count) {
        JsonObject request = request("atOnce");
        request.addProperty("threads", threads);
        request.addProperty("count", count);
        JsonElement unused = ask("predicting on several threads", request);
    }

    /** The same, watched by a {@link PoolWatch}; returns what that returns. */
    JsonObject watchAtOnce(int threads, int count) {
        JsonObject request = request("pool");
        request.addProperty("threads", threads);
        request.addProperty("count", count);
        return ask("predicting on several threads", request).getAsJsonObject();
    }

    /** Returns the figures of all that was timed. */
    RunFigures figures() {
        return RunFigures.fromJson(ask("reporting", request("figures")).getAsJsonObject());
    }

    /** Returns the plan of a PyTorch model's allocations, if one is in use. */
    Optional<EvaluatedPlan> allocations() {
        JsonElement answer = ask("reporting", request("allocations"));
        return answer.isJsonNull()
                ? Optional.empty()
                : Optional.of(AllocationFacts.fromJson(answer.getAsJsonObject()));
    }

    /**
     * Runs one more prediction of a PyTorch model; returns its allocations in their order, each
     * with the operator that makes it and its shape.
     *
     * @throws Failure if they are not told
     */
    List<OperatorNames.Named> namedAllocations() {
        JsonElement answer = ask("naming the operators of", request("operators"));
        if (answer.isJsonPrimitive()) {
            throw new Failure(answer.getAsString());
        }
        return AllocationFacts.named(answer.getAsJsonArray());
    }

    /** Returns which weights are in memory when; empty if all are all the time. */
    Optional<ResidentWeights> residentWeights() {
        JsonElement answer = ask("reporting", request("weights"));
        return answer.isJsonNull()
                ? Optional.empty()
                : Optional.of(WeightFacts.fromJson(answer.getAsJsonObject()));
    }

    /** Returns the bytes of the process that are in memory now; empty where that is not told. */
    OptionalLong residentBytes() {
        return ProcessMemory.of(process.pid()).residentBytes();
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
            String message = "%s: while %s, the process %s".formatted(name, doing, lost.how());
            throw lost.end() == ChildProcess.End.OUT_OF_MEMORY
                    ? new Failure.OutOfMemory(message)
                    : new Failure(message);
        }
        throw new Failure(
                "%s: %s took more than %d s (see --timeout)"
                        .formatted(name, doing, timeout.toSeconds()));
    }

    /**
     * Lines of a worker's error stream that a user is to see: the last few, without progress and
     * without what native code tells of itself, such as which delegate it created. It is printed by
     * the parent before its results, never between them. For any number of threads.
     */
    static final class Errors implements Consumer<String> {

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
        Errors(Progress progress) {
            this.progress = progress;
        }

        @Override
        public void accept(String line) {
            if (ProgressLine.ToParent.read(line, progress)) {
                return;
            }
            String text = line.strip();
            if (!text.isEmpty() && !text.startsWith(NATIVE_NEWS) && !text.startsWith(CRASH)) {
                synchronized (lines) {
                    lines.add(text);
                }
            }
        }

        /** Ends the showing of progress. */
        void end() {
            progress.end();
        }

        /** Returns the last lines. */
        ImmutableList<String> lines() {
            synchronized (lines) {
                return ImmutableList.copyOf(lines);
            }
        }
    }

    /**
     * One way to run a model in a process of its own.
     *
     * @param name what it is called in messages and tables
     * @param way how the model is run
     * @param environment what the process's environment says besides this one's
     * @param classPath of the process
     */
    record Contestant(String name, Way way, Map<String, String> environment, String classPath) {

        /** With a plan, to make and store it. */
        static final Contestant RECORDING = new Contestant("recording", Way.PLANNED, Map.of());

        /** With delegation, to measure what to delegate and keep it. */
        static final Contestant MEASURING = new Contestant("measuring", Way.DELEGATED, Map.of());

        Contestant {
            environment = ImmutableMap.copyOf(environment);
        }

        /** With this process's class path. */
        Contestant(String name, Way way, Map<String, String> environment) {
            this(name, way, environment, System.getProperty("java.class.path"));
        }

        static Contestant of(Way way) {
            return new Contestant(way.label(), way, Map.of());
        }
    }

    /**
     * Command line of a child's JVM: as this one's, but with a heap that does not grow while
     * measuring.
     */
    static final class Jvm {

        /** Of the heap, all of it in memory. */
        static final int HEAP_MEBIBYTES = 128;

        /**
         * Fixed and touched at the start, so that garbage collection never shows in memory figures.
         */
        private static final ImmutableList<String> QUIET =
                ImmutableList.of(
                        "-Xms" + HEAP_MEBIBYTES + "m",
                        "-Xmx1g",
                        "-XX:+AlwaysPreTouch",
                        "-XX:+UseSerialGC",
                        "-XX:+DisplayVMOutputToStderr");

        /**
         * The optimizing compiler takes 5 MB now and then, which would be seen beside an arena of
         * 10; on PyTorch there is little Java code to optimize.
         */
        private static final String NO_OPTIMIZING_COMPILER = "-XX:TieredStopAtLevel=1";

        private Jvm() {}

        /** Returns the command line up to and including the class path. */
        static ImmutableList<String> command(
                RunOptions options, boolean optimizing, String classPath) {
            Map<String, String> properties = new TreeMap<>();
            properties.put("ai.djl.offline", "true");
            if (options.engine() == EngineKind.PYTORCH && options.threads().isPresent()) {
                // The same for stock and planned; DJL sets no threads of single models.
                String threads = Integer.toString(options.threads().getAsInt());
                properties.put("ai.djl.pytorch.num_threads", threads);
                properties.put("ai.djl.pytorch.num_interop_threads", "1");
            }
            ImmutableList.Builder<String> flags = ImmutableList.<String>builder().addAll(QUIET);
            if (!optimizing) {
                flags.add(NO_OPTIMIZING_COMPILER);
            }
            return JavaCommand.of(JavaCommand.ofThisJvm(), flags.build(), properties, classPath);
        }
    }
}
