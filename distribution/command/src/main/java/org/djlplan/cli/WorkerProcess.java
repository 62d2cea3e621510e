package org.djlplan.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.child.ChildProcess;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A child process that runs one model in one mode ({@link WorkerCommand}). So its memory figures
 * contain only that model, and a crash of native code becomes an error message in this process.
 *
 * <p>It loads its engine when it starts, and the model on request. It can then, in any order, warm
 * up, write outputs and time predictions, and finally return its figures. It never outlives this
 * process, because it ends as soon as the pipe to it is closed.
 */
final class WorkerProcess implements AutoCloseable {

    /** Prefix of the engine's informational messages; warnings and errors have other prefixes. */
    private static final String NATIVE_NEWS = "INFO: ";

    private final String name;
    private final Duration timeout;
    private final ChildProcess process;

    /**
     * Starts a child process that loads the engine.
     *
     * @param news receives what the child tells the user at once
     */
    static WorkerProcess start(Contestant contestant, RunOptions options, Consumer<String> news) {
        boolean optimizing =
                options.engine() == EngineKind.TFLITE && Jvm.isOptimizing(Jvm.ownArguments());
        return start(contestant, options, news, List.of(), optimizing);
    }

    /**
     * Starts a child process as the method above does, but with a command prefix.
     *
     * @param starter prefix of the command
     * @param optimizing whether the JVM's optimizing compiler, whose memory fluctuates, is on
     */
    static WorkerProcess start(
            Contestant contestant,
            RunOptions options,
            Consumer<String> news,
            List<String> starter,
            boolean optimizing) {
        ImmutableList.Builder<String> command =
                ImmutableList.<String>builder()
                        .addAll(starter)
                        .addAll(Jvm.command(options, optimizing, contestant.classPath()))
                        .add(DjlPlan.class.getName(), "worker")
                        .add("--way", contestant.mode().label());
        command.addAll(options.toArguments());
        ProcessBuilder builder = new ProcessBuilder(command.build());
        builder.environment().putAll(contestant.environment());
        try {
            return new WorkerProcess(
                    contestant.name(),
                    options.effort().timeout(),
                    ChildProcess.start(builder, line -> tell(line, news)));
        } catch (IOException e) {
            throw new Failure("cannot start a process for the " + contestant.name() + " model", e);
        }
    }

    private WorkerProcess(String name, Duration timeout, ChildProcess process) {
        this.name = name;
        this.timeout = timeout;
        this.process = process;
    }

    private static void tell(String line, Consumer<String> news) {
        if (line.startsWith(MeasuringNews.PREFIX)) {
            news.accept(line.substring(MeasuringNews.PREFIX.length()));
        }
    }

    /** Waits until the engine is loaded and has run a small model. */
    void awaitIdle() {
        JsonElement unused = waiting("starting", () -> process.await(timeout));
    }

    /**
     * The reason why a model is not loaded.
     *
     * @param leastBytes the smallest possible budget
     */
    record TooSmall(String message, long leastBytes) {}

    /**
     * Loads the model.
     *
     * @throws Failure.TooSmall if the model cannot run in its budget
     */
    void load() {
        ask("loading", new TypeToken<Optional<TooSmall>>() {}, "load")
                .ifPresent(
                        refusal -> {
                            throw new Failure.TooSmall(refusal.message(), refusal.leastBytes());
                        });
    }

    /** Waits until the engine is loaded, and loads the model. */
    void awaitLoaded() {
        awaitIdle();
        load();
    }

    /** Runs the untimed predictions. */
    void warmUp() {
        ask("warming up", "warmUp");
    }

    /** Writes the outputs of the fixed inputs into a file. */
    OutputDifference.Written writeOutputs(Path file) {
        return new OutputDifference.Written(
                file,
                ask(
                        "predicting",
                        new TypeToken<List<OutputDifference.Written.Part>>() {},
                        "outputs",
                        file.toAbsolutePath().toString()));
    }

    /** Times predictions; returns the duration of each in nanoseconds. */
    long[] time(int count) {
        return ask("timing", TypeToken.get(long[].class), "time", count);
    }

    /** Runs a number of untimed predictions on each of several threads at once. */
    void runAtOnce(int threads, int count) {
        ask("predicting on several threads", "atOnce", threads, count);
    }

    /** Runs as {@link #runAtOnce} does, observed by a {@link PoolWatch}; returns its result. */
    PoolWatch.Seen watchAtOnce(int threads, int count) {
        return ask(
                "predicting on several threads",
                TypeToken.get(PoolWatch.Seen.class),
                "pool",
                threads,
                count);
    }

    /** Returns the figures of everything that was timed. */
    RunFigures figures() {
        return figures(false);
    }

    /**
     * Returns these figures with the size of the stock engine's arena. To be called once, at the
     * end, because it takes memory in the process, which peaks of later figures would include.
     */
    RunFigures figuresWithStockArena() {
        return figures(true);
    }

    private RunFigures figures(boolean stockArena) {
        return ask("reporting", TypeToken.get(RunFigures.class), "figures", stockArena);
    }

    /** Runs one more prediction; returns its allocations, empty if they cannot be planned. */
    Optional<List<UsageRecord>> allocations() {
        return ask("reporting", new TypeToken<>() {}, "allocations");
    }

    /**
     * Runs one more prediction of a PyTorch model; returns its allocations in order, each with its
     * operator and shape.
     *
     * @throws Failure if operators are unknown
     */
    List<OperatorNames.Named> namedAllocations() {
        return ask("naming the operators of", new TypeToken<>() {}, "operators");
    }

    /** Returns which weights are in memory at which time; empty if all are always in memory. */
    Optional<ResidentWeights> residentWeights() {
        return ask("reporting", new TypeToken<>() {}, "weights");
    }

    /** Returns the resident bytes of the process; empty if they are unknown. */
    OptionalLong residentBytes() {
        return ProcessMemory.of(process.pid()).residentBytes();
    }

    /** Closes the model and waits until that is done; no request is possible afterwards. */
    void finish() {
        ask("closing", "finish");
    }

    /**
     * Returns the last lines for the user that the child wrote to its error stream: without news,
     * and without messages of native code (about created delegates, for example).
     */
    List<String> lastErrorLines() {
        return process.lastErrorLines().stream()
                .filter(line -> !line.startsWith(MeasuringNews.PREFIX))
                .filter(line -> !line.startsWith(NATIVE_NEWS))
                .map(TextTable::plain)
                .toList();
    }

    /** Ends the child. */
    @Override
    public void close() {
        process.close();
    }

    private <T> T ask(String doing, TypeToken<T> type, String step, Object... arguments) {
        JsonObject request = new JsonObject();
        request.addProperty("step", step);
        request.add("arguments", Json.tree(arguments));
        return Json.read(waiting(doing, () -> process.ask(request, timeout)), type);
    }

    private void ask(String doing, String step, Object... arguments) {
        String unused = ask(doing, TypeToken.get(String.class), step, arguments);
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
     * A configuration in which a model runs in a separate process.
     *
     * @param name in messages and tables
     * @param mode in which the model runs
     * @param environment additional environment variables of the process
     * @param classPath of the process
     */
    record Contestant(
            String name, RunMode mode, Map<String, String> environment, String classPath) {

        /** Runs planned, to record allocations. */
        static final Contestant RECORDING = new Contestant("recording", RunMode.PLANNED, Map.of());

        /** Runs delegated, to measure delegation and store the result. */
        static final Contestant MEASURING =
                new Contestant("measuring", RunMode.DELEGATED, Map.of());

        Contestant {
            environment = ImmutableMap.copyOf(environment);
        }

        /** Creates a contestant with this process's class path. */
        Contestant(String name, RunMode mode, Map<String, String> environment) {
            this(name, mode, environment, System.getProperty("java.class.path"));
        }

        static Contestant of(RunMode mode) {
            return new Contestant(mode.label(), mode, Map.of());
        }
    }

    /**
     * Builds the command line of a child's JVM: like this JVM's, but with a heap that does not grow
     * while measuring.
     */
    static final class Jvm {

        /** Size of the heap, which is in memory completely. */
        static final int HEAP_MEBIBYTES = 128;

        /**
         * The heap is fixed and touched at the start, so that garbage collection never affects
         * memory figures.
         */
        private static final ImmutableList<String> QUIET =
                ImmutableList.of(
                        "-Xms" + HEAP_MEBIBYTES + "m",
                        "-Xmx1g",
                        "-XX:+AlwaysPreTouch",
                        "-XX:+UseSerialGC",
                        "-XX:+DisplayVMOutputToStderr");

        /**
         * The optimizing compiler takes 5 MB from time to time, which would be visible next to an
         * arena of 10 MB; on PyTorch there is little Java code to optimize.
         */
        private static final String NO_OPTIMIZING_COMPILER = "-XX:TieredStopAtLevel=1";

        private Jvm() {}

        /** Returns the options that this JVM was started with. */
        static List<String> ownArguments() {
            return ManagementFactory.getRuntimeMXBean().getInputArguments();
        }

        /** Returns whether a JVM with these arguments has the optimizing compiler. */
        static boolean isOptimizing(List<String> arguments) {
            return !arguments.contains(NO_OPTIMIZING_COMPILER);
        }

        /** Returns the command line up to and including the class path. */
        static ImmutableList<String> command(
                RunOptions options, boolean optimizing, String classPath) {
            Map<String, String> properties = new TreeMap<>();
            properties.put("ai.djl.offline", "true");
            if (options.engine() == EngineKind.PYTORCH && options.threads().isPresent()) {
                // The same number for stock and planned, because DJL cannot set the threads of a
                // single model.
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
