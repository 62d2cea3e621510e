package org.djlplan.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.cli.demo.Activation;
import org.djlplan.memplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.cli.demo.Value;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands that run models, each started as a user starts it: in a JVM of its own. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CommandsTest {

    @TempDir Path folder;
    private String model = "";

    private record Result(int exitCode, String out, String err) {
        JsonObject json() {
            assertEquals(1, out.lines().count(), out);
            return JsonParser.parseString(out).getAsJsonObject();
        }
    }

    @BeforeEach
    void writeModel() throws IOException {
        NetworkBuilder network = new NetworkBuilder("small", 1);
        Value x = network.input("in", 1, 32, 32, 3);
        x = network.conv2d(x, 16, 3, 1, Activation.RELU6);
        x = network.conv2d(x, 16, 3, 1, Activation.RELU6);
        x = network.conv2d(x, 4, 3, 2, Activation.NONE);
        Path file = folder.resolve("small.tflite");
        TfLiteWriter.write(network.output(x).build(), file);
        model = file.toString();
    }

    @Test
    void run_stock_measuresAndRepeatsItsOutputs() throws Exception {
        JsonObject few =
                djlplan("run", "--stock", "--json", "--iterations", "3", "--warmup", "0", model)
                        .json();
        JsonObject many = djlplan("run", "--stock", "--json", "--iterations", "40", model).json();
        JsonObject other = djlplan("run", "--stock", "--json", "--seed", "2", model).json();
        assertEquals(few.get("outputSha256"), many.get("outputSha256"));
        assertNotEquals(few.get("outputSha256"), other.get("outputSha256"));
        assertEquals(model, few.get("model").getAsString());
        assertEquals("TFLite", few.get("engine").getAsString());
        assertTrue(few.get("threads").isJsonNull());
        assertTrue(few.get("arenaBytes").isJsonNull());
        double median = many.get("medianMillis").getAsDouble();
        assertTrue(median > 0 && median <= many.get("p99Millis").getAsDouble(), many.toString());
        assertTrue(
                many.get("peakAboveIdleBytes").getAsLong()
                        >= many.get("peakAboveLoadedBytes").getAsLong() - (1 << 20),
                many.toString());
    }

    @Test
    void compare_oneThread_isIdenticalToTheBareInterpreter() throws Exception {
        Result result = djlplan("compare", "--threads", "1", "--json", "--iterations", "7", model);
        assertEquals(0, result.exitCode(), result.err());
        JsonObject comparison = result.json();
        assertTrue(comparison.get("identical").getAsBoolean());
        assertEquals(0, comparison.get("maxRelativeError").getAsDouble());
        JsonObject planned = comparison.getAsJsonObject("planned");
        long arenaBytes = planned.get("arenaBytes").getAsLong();
        assertTrue(arenaBytes > 0 && arenaBytes < planned.get("naiveBytes").getAsLong());
        assertEquals(0, planned.get("unplannedAllocations").getAsLong());
        assertEquals(
                (double) (arenaBytes + planned.get("inputOutputBytes").getAsLong())
                        / planned.get("stockArenaBytes").getAsLong(),
                comparison.getAsJsonObject("ratios").get("arenaBytes").getAsDouble(),
                1e-9);
    }

    @Test
    void demo_smallEffort_writesItsReport() throws Exception {
        Result result =
                djlplan("demo", "--iterations", "5", "--warmup", "1", "--out", folder.toString());
        assertEquals(0, result.exitCode(), result.err());
        Path json = folder.resolve("djlplan-demo.json");
        assertTrue(
                JsonParser.parseString(Files.readString(json))
                        .getAsJsonObject()
                        .get("identical")
                        .getAsBoolean());
        String page = Files.readString(folder.resolve("djlplan-demo.html"));
        assertTrue(page.startsWith("<!doctype html>") && page.contains("mobilenet_v2"), page);
        assertTrue(result.out().contains("djlplan-demo.html"), result.out());
    }

    @Test
    void run_processKilled_saysSoAndExitsWith1() throws Exception {
        Process parent = start("run", "--stock", "--iterations", "10000000", model);
        ProcessHandle child = awaitTimingChild(parent);
        child.destroyForcibly();
        Result result = finish(parent);
        assertEquals(1, result.exitCode());
        assertTrue(result.err().contains("ended with exit code 137"), result.err());
        assertFalse(result.err().contains("\tat "), result.err());
    }

    @Test
    void run_parentKilled_leavesNoProcess() throws Exception {
        Process parent = start("run", "--stock", "--iterations", "10000000", model);
        ProcessHandle child = awaitTimingChild(parent);
        parent.destroyForcibly();
        child.onExit().get(30, TimeUnit.SECONDS);
        assertFalse(child.isAlive());
    }

    /** Waits for the child that runs the model, and until it is busy with it. */
    private static ProcessHandle awaitTimingChild(Process parent) throws InterruptedException {
        while (parent.isAlive()) {
            for (ProcessHandle child : parent.children().toList()) {
                boolean busy =
                        child.info().totalCpuDuration().map(used -> used.toSeconds()).orElse(0L)
                                >= 3;
                if (busy) {
                    return child;
                }
            }
            Thread.sleep(50);
        }
        throw new AssertionError("ended early with " + parent.exitValue());
    }

    private Result djlplan(String... arguments) throws IOException, InterruptedException {
        return finish(start(arguments));
    }

    private Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Dai.djl.offline=true", "-cp"));
        command.add(System.getProperty("java.class.path"));
        command.add("org.djlplan.memplan.cli.DjlPlan");
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectOutput(folder.resolve("out").toFile())
                .redirectError(folder.resolve("err").toFile())
                .start();
    }

    private Result finish(Process process) throws IOException, InterruptedException {
        int exitCode = process.waitFor();
        return new Result(
                exitCode,
                Files.readString(folder.resolve("out"), StandardCharsets.UTF_8),
                Files.readString(folder.resolve("err"), StandardCharsets.UTF_8));
    }
}
