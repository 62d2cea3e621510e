package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.child.ParentConnection;
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
            try (ModelRun measurement = new ModelRun(options, mode)) {
                parent.reply(new JsonPrimitive("idle"));
                serve(measurement, parent);
            }
            parent.reply(new JsonPrimitive("closed"));
            return 0;
        } catch (Failure e) {
            parent.fail(FAILED, Failure.describe(e));
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            e.printStackTrace();
            parent.fail(FAILED, Failure.describe(e));
        }
        return 1;
    }

    /**
     * Loads the model; returns the smallest budget and its reason if the model cannot be loaded.
     */
    private static JsonElement load(ModelRun measurement) {
        try {
            measurement.load();
            return new JsonPrimitive("loaded");
        } catch (Failure.TooSmall e) {
            JsonObject refusal = new JsonObject();
            refusal.addProperty("leastBytes", e.leastBytes());
            refusal.addProperty("message", e.getMessage());
            return refusal;
        }
    }

    /**
     * Returns bytes and operator of each allocation, or a text with the reason why they are
     * unknown.
     */
    private static JsonElement operators(ModelRun measurement) {
        try {
            return AllocationFacts.toJson(measurement.namedAllocations());
        } catch (Failure e) {
            return new JsonPrimitive(e.getMessage());
        }
    }

    /** Answers requests until one of them closes the model. */
    private void serve(ModelRun measurement, ParentConnection parent)
            throws InterruptedException, IOException {
        while (true) {
            JsonObject request = parent.take();
            switch (request.get("step").getAsString()) {
                case "load" -> {
                    parent.reply(load(measurement));
                }
                case "warmUp" -> {
                    measurement.warmUp();
                    parent.reply(new JsonPrimitive("warm"));
                }
                case "outputs" -> {
                    Path file = Path.of(request.get("file").getAsString());
                    parent.reply(measurement.writeOutputs(file));
                }
                case "time" -> {
                    JsonArray nanos = new JsonArray();
                    for (long each : measurement.time(request.get("count").getAsInt())) {
                        nanos.add(each);
                    }
                    parent.reply(nanos);
                }
                case "atOnce" -> {
                    measurement.runAtOnce(
                            request.get("threads").getAsInt(), request.get("count").getAsInt());
                    parent.reply(new JsonPrimitive("ran"));
                }
                case "pool" ->
                        parent.reply(
                                PoolWatch.of(
                                        measurement,
                                        request.get("threads").getAsInt(),
                                        request.get("count").getAsInt(),
                                        options.model() instanceof ModelRef.OfFile file
                                                ? Optional.of(file.readable())
                                                : Optional.empty()));
                case "figures" -> {
                    boolean stockArena = request.get("stockArena").getAsBoolean();
                    parent.reply(measurement.figures(stockArena).toJson());
                }
                case "allocations" ->
                        parent.reply(
                                measurement
                                        .placedAllocations()
                                        .<JsonElement>map(AllocationFacts::toJson)
                                        .orElse(JsonNull.INSTANCE));
                case "operators" -> parent.reply(operators(measurement));
                case "weights" ->
                        parent.reply(
                                measurement
                                        .residentWeights()
                                        .<JsonElement>map(WeightFacts::toJson)
                                        .orElse(JsonNull.INSTANCE));
                case "finish" -> {
                    return;
                }
                default -> throw new IllegalArgumentException("unknown step: " + request);
            }
        }
    }
}
