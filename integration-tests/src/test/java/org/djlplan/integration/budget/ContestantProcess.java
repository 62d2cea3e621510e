package org.djlplan.integration.budget;

import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.FrozenThread;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.child.ChildProcess;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.ChildProcess.End;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.testing.MemoryGroup;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Runs a model in a JVM whose resident memory is measured from outside. Linux keeps the exact peak,
 * including pages of files.
 *
 * <p>All contestants have the same JVM: a small heap, all of it in memory from the start, and one
 * compiler thread. So hardly anything but the model adds memory.
 */
public final class ContestantProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final ImmutableList<String> JVM =
            ImmutableList.of(
                    "-Xms64m",
                    "-Xmx64m",
                    "-XX:+UseSerialGC",
                    "-XX:+AlwaysPreTouch",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:CICompilerCount=1",
                    "-XX:ReservedCodeCacheSize=48m",
                    "-XX:-UsePerfData",
                    "-XX:+DisplayVMOutputToStderr");

    /** Properties for DJL's folders of downloads and unpacked files, which are the same as here. */
    private static final ImmutableList<String> INHERITED =
            ImmutableList.of("DJL_CACHE_DIR", "ENGINE_CACHE_DIR");

    private final Path folder;
    private final ChildProcess process;
    private final long idleBytes;

    /** The system killed the process because memory ran out. */
    public static final class KilledException extends IOException {

        private static final long serialVersionUID = 1;

        private KilledException(String message) {
            super(message);
        }
    }

    /**
     * Starts a process, in which the engine and small models have run.
     *
     * @param model file that will be loaded; the small models are for the same engine
     * @param folder for the outputs
     * @param group the memory cgroup of the process
     */
    public static ContestantProcess start(
            Contestant contestant, Path model, Path folder, Optional<MemoryGroup> group)
            throws IOException, InterruptedException {
        Map<String, String> properties = new TreeMap<>();
        properties.put("ai.djl.offline", "true");
        properties.put("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        properties.put("ai.djl.pytorch.num_threads", Integer.toString(contestant.threads()));
        properties.put("ai.djl.pytorch.num_interop_threads", "1");
        for (String property : INHERITED) {
            Optional.ofNullable(System.getProperty(property))
                    .ifPresent(value -> properties.put(property, value));
        }
        ImmutableList.Builder<String> command = ImmutableList.builder();
        group.ifPresent(g -> command.addAll(g.inside()));
        command.addAll(
                JavaCommand.of(
                        JavaCommand.ofThisJvm(),
                        JVM,
                        properties,
                        String.join(File.pathSeparator, ChildJvm.ownClassPath())));
        command.add(ContestantMain.class.getName()).addAll(contestant.arguments()).add("--");
        smallModels(model, folder).forEach(file -> command.add(file.toString()));
        ProcessBuilder builder = new ProcessBuilder(command.build());
        builder.environment().remove("MALLOC_ARENA_MAX");
        return new ContestantProcess(folder, ChildProcess.start(builder, line -> {}));
    }

    /** Returns copies in separate folders, because plans are stored beside models. */
    private static List<Path> smallModels(Path model, Path folder) throws IOException {
        List<Path> originals =
                Contestant.isTorch(model)
                        ? List.of(TorchScriptModels.named("cnn").file())
                        : List.of(BudgetModels.TINY_RESNET.file(), BudgetModels.TINY_VGG.file());
        List<Path> copies = new ArrayList<>();
        for (Path original : originals) {
            Path own = Files.createTempDirectory(folder, "small");
            copies.add(Files.copy(original, own.resolve(original.getFileName())));
        }
        return copies;
    }

    private ContestantProcess(Path folder, ChildProcess process)
            throws IOException, InterruptedException {
        this.folder = folder;
        this.process = process;
        try {
            JsonObject unused = ask("idle");
            idleBytes = status("VmRSS");
        } catch (IOException | InterruptedException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Returns the resident set after only stock small models have run. */
    public long idleBytes() {
        return idleBytes;
    }

    /**
     * Runs the small models in the contestant's way; returns the memory that this adds to the idle
     * memory.
     */
    public long ready() throws IOException, InterruptedException {
        JsonObject unused = ask("ready");
        return status("VmRSS") - idleBytes;
    }

    /** Loads the model; returns how long that took. */
    public long loadNanos(Path file) throws IOException, InterruptedException {
        JsonObject request = new JsonObject();
        request.addProperty("file", file.toString());
        return ask("load", request).get("nanos").getAsLong();
    }

    /** Gives the model another budget; returns how long that took. */
    public long budgetNanos(long bytes) throws IOException, InterruptedException {
        JsonObject request = new JsonObject();
        request.addProperty("bytes", bytes);
        return ask("budget", request).get("nanos").getAsLong();
    }

    /** Predicts some times; returns how long each took. */
    public long[] predictNanos(int count) throws IOException, InterruptedException {
        return predictNanos(count, 1);
    }

    /** Predicts some times on each of some threads; returns how long each prediction took. */
    public long[] predictNanos(int count, int threads) throws IOException, InterruptedException {
        JsonObject request = new JsonObject();
        request.addProperty("count", count);
        request.addProperty("threads", threads);
        return ask("time", request).getAsJsonArray("nanos").asList().stream()
                .mapToLong(JsonElement::getAsLong)
                .toArray();
    }

    /** Predicts once with the inputs of a seed; returns the bytes of all outputs. */
    public byte[] outputs(long seed) throws IOException, InterruptedException {
        Path file = Files.createTempFile(folder, "outputs", ".bin");
        JsonObject request = new JsonObject();
        request.addProperty("seed", seed);
        request.addProperty("file", file.toString());
        JsonObject unused = ask("outputs", request);
        byte[] bytes = Files.readAllBytes(file);
        Files.delete(file);
        return bytes;
    }

    /**
     * Returns the same as {@link #outputs}, for a prediction that must wait two seconds because the
     * thread that loads weights is frozen.
     */
    public byte[] outputsBehindAFrozenLoader(long seed) throws Exception {
        CompletableFuture<byte[]> answer;
        try (FrozenThread loader = FrozenThread.of(pid(), "djlplan-loader")) {
            answer =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return outputs(seed);
                                } catch (IOException | InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            });
            assertThrows(
                    TimeoutException.class, () -> answer.get(2, TimeUnit.SECONDS), loader.name());
        }
        return answer.get();
    }

    /**
     * Loads a model and predicts again and again.
     *
     * @throws IOException when the process has ended
     */
    public void predictUntilItEnds(Path file) throws IOException, InterruptedException {
        long nanos = loadNanos(file);
        while (nanos > 0) {
            nanos = predictNanos(1)[0];
        }
    }

    /** Returns the report of a planned model, else an empty text. */
    public String report() throws IOException, InterruptedException {
        return ask("report").get("text").getAsString();
    }

    /** Makes the peak start again at the bytes that are resident now. */
    public void resetPeak() throws IOException {
        Files.writeString(proc().resolve("clear_refs"), "5");
    }

    /** Returns the peak of resident bytes since {@link #resetPeak()}, above idle. */
    public long peakAboveIdleBytes() throws IOException {
        return status("VmHWM") - idleBytes;
    }

    /** Returns the process's id. */
    public long pid() {
        return process.pid();
    }

    /** Ends the process as {@code kill -9} does. */
    public void kill() {
        process.kill();
    }

    private Path proc() {
        return Path.of("/proc", Long.toString(process.pid()));
    }

    private long status(String key) throws IOException {
        String line =
                Files.readAllLines(proc().resolve("status")).stream()
                        .filter(text -> text.startsWith(key + ":"))
                        .findFirst()
                        .orElseThrow(() -> new IOException("no " + key));
        return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
    }

    private JsonObject ask(String step) throws IOException, InterruptedException {
        return ask(step, new JsonObject());
    }

    private JsonObject ask(String step, JsonObject request)
            throws IOException, InterruptedException {
        request.addProperty("step", step);
        Answer answer = process.ask(request, PATIENCE);
        if (answer instanceof Answer.Result result) {
            return result.value().getAsJsonObject();
        }
        if (answer instanceof Answer.Lost lost && lost.end() == End.OUT_OF_MEMORY) {
            throw new KilledException(step + ": " + lost.how());
        }
        throw new IOException(
                step + ": " + answer + "\n" + String.join("\n", process.lastErrorLines()));
    }

    @Override
    public void close() {
        process.close();
    }
}
