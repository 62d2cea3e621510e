package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.cli.DjlPlan;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.child.ChildProcess;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the process in which commands run a model. */
@Tag("long")
@Timeout(200)
class WorkerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(100);
    private static final int MEBIBYTE = 1 << 20;
    private static final int SIDE = 1500;

    @TempDir Path folder;

    private ChildProcess start(Path model, String... arguments) throws IOException {
        List<String> flags = List.of("-Xms128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC");
        return ChildProcess.start(
                new ProcessBuilder(
                        ImmutableList.<String>builder()
                                .addAll(
                                        JavaCommand.of(
                                                JavaCommand.ofThisJvm(),
                                                flags,
                                                Map.of("ai.djl.offline", "true"),
                                                String.join(
                                                        File.pathSeparator,
                                                        ChildJvm.ownClassPath())))
                                .add(DjlPlan.class.getName(), "worker", "--way", "planned")
                                .add(arguments)
                                .add("--", model.toString())
                                .build()),
                line -> {});
    }

    private static JsonElement ask(ChildProcess worker, String step, Object... arguments)
            throws InterruptedException {
        JsonObject request = new JsonObject();
        request.addProperty("step", step);
        request.add("arguments", new Gson().toJsonTree(arguments));
        return result(worker.ask(request, PATIENCE));
    }

    private static JsonElement result(Answer answer) {
        return assertInstanceOf(Answer.Result.class, answer, answer.toString()).value();
    }

    private static JsonObject figures(ChildProcess worker, boolean stockArena)
            throws InterruptedException {
        return ask(worker, "figures", stockArena).getAsJsonObject().getAsJsonObject("values");
    }

    /** Opening the model in the engine once more, for its arena, would take memory. */
    @Test
    void figures_askedTwice_haveTheSamePeak() throws Exception {
        ModelSketch sketch = new ModelSketch();
        int x = sketch.input(ElementType.FLOAT32, 1, SIDE);
        int weights = sketch.floats(new int[] {SIDE, SIDE}, new float[SIDE * SIDE]);
        sketch.output(
                sketch.operator(
                        "FULLY_CONNECTED",
                        Optional.of(FlatTable.of("FullyConnectedOptions")),
                        Form.of(ElementType.FLOAT32, 1, SIDE),
                        x,
                        weights,
                        ModelSketch.ABSENT));
        Path model = sketch.write(folder.resolve("large.tflite"));
        String shape = "1," + SIDE + ":float32";
        try (ChildProcess worker = start(model, "--input-shape", shape)) {
            assertEquals("idle", result(worker.await(PATIENCE)).getAsString());
            JsonElement unused = ask(worker, "load");
            unused = ask(worker, "time", 1);
            JsonObject first = figures(worker, false);
            JsonObject second = figures(worker, false);
            assertFalse(first.has("STOCK_ARENA"));
            long more = second.get("PEAK").getAsLong() - first.get("PEAK").getAsLong();
            assertTrue(more < MEBIBYTE, more + " bytes");
            assertTrue(figures(worker, true).get("STOCK_ARENA").getAsLong() > 0);
        }
    }

    @Test
    void run_scalarInput_predicts() throws Exception {
        ModelSketch sketch = new ModelSketch();
        sketch.output(
                sketch.operator(
                        "ADD",
                        Optional.of(FlatTable.of("AddOptions")),
                        Form.of(ElementType.FLOAT32, 4),
                        sketch.input(ElementType.FLOAT32, 4),
                        sketch.input(ElementType.FLOAT32)));
        Path model = sketch.write(folder.resolve("scalar.tflite"));
        Result result =
                DjlPlanProcess.runHere(
                        "run", "--no-delegation", "--iterations", "1", model.toString());
        assertEquals(0, result.exitCode(), result.err());
    }
}
