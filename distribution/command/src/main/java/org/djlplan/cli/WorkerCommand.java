package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.child.ParentConnection;
import org.djlplan.memplan.internal.json.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures one model in one mode for another process. That process requests each step by a line of
 * JSON on this command's input, and receives a line of JSON on its output. The steps are described
 * in {@link WorkerProcess}. The command ends immediately when its input ends.
 */
@Command(name = "worker", hidden = true, description = "Runs a model for another process.")
final class WorkerCommand implements Callable<Integer> {

    private static final String FAILED = "failed";

    @Mixin private RunOptions options = new RunOptions();

    @Option(names = "--way", required = true, description = "How to run it.")
    private RunMode mode = RunMode.STOCK;

    RunOptions options() {
        return options;
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        ParentConnection parent = ParentConnection.open(() -> {});
        try {
            try (ModelRun run = new ModelRun(options, mode)) {
                parent.reply(Json.tree("idle"));
                JsonObject request = parent.take();
                while (!step(request).equals("finish")) {
                    JsonArray given = request.getAsJsonArray("arguments");
                    parent.reply(Json.tree(answer(run, step(request), given)));
                    request = parent.take();
                }
            }
            parent.reply(Json.tree("closed"));
            return 0;
        } catch (Failure e) {
            parent.fail(FAILED, Failure.describe(e));
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            e.printStackTrace();
            parent.fail(FAILED, Failure.describe(e));
        }
        return 1;
    }

    private static String step(JsonObject request) {
        return request.get("step").getAsString();
    }

    private Object answer(ModelRun run, String step, JsonArray given)
            throws InterruptedException, IOException {
        switch (step) {
            case "load" -> {
                return load(run);
            }
            case "warmUp" -> run.warmUp();
            case "outputs" -> {
                return run.writeOutputs(Path.of(given.get(0).getAsString()));
            }
            case "time" -> {
                return run.time(given.get(0).getAsInt());
            }
            case "atOnce" -> run.runAtOnce(given.get(0).getAsInt(), given.get(1).getAsInt());
            case "pool" -> {
                return PoolWatch.of(
                        run,
                        given.get(0).getAsInt(),
                        given.get(1).getAsInt(),
                        options.model() instanceof ModelRef.OfFile file
                                ? Optional.of(file.readable())
                                : Optional.empty());
            }
            case "figures" -> {
                return run.figures(given.get(0).getAsBoolean());
            }
            case "allocations" -> {
                return run.recordedAllocations();
            }
            case "operators" -> {
                return run.namedAllocations();
            }
            case "weights" -> {
                return run.residentWeights();
            }
            default -> throw new IllegalArgumentException("unknown step: " + step);
        }
        return step;
    }

    /** Loads the model; returns the reason if its budget is too small. */
    private static Optional<WorkerProcess.TooSmall> load(ModelRun run) {
        try {
            run.load();
            return Optional.empty();
        } catch (Failure.TooSmall e) {
            return Optional.of(new WorkerProcess.TooSmall(e.getMessage(), e.leastBytes()));
        }
    }
}
