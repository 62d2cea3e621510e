package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands that run models, each in its own JVM, as a user starts it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CommandsTest {

    @TempDir Path folder;
    private String model = "";

    @BeforeEach
    void writeModel() throws IOException {
        NetworkBuilder network = new NetworkBuilder("small", 1);
        LayerOutput x = network.input("in", 1, 32, 32, 3);
        x = network.conv2d(x, 16, 3, 1, Activation.RELU6);
        x = network.conv2d(x, 16, 3, 1, Activation.RELU6);
        x = network.conv2d(x, 4, 3, 2, Activation.NONE);
        Path file = folder.resolve("small.tflite");
        TfLiteWriter.write(network.output(x).build(), file);
        model = file.toString();
    }

    @Test
    void plan_outputCannotBeWritten_fails() throws Exception {
        Result full = DjlPlanProcess.runInto(Path.of("/dev/full"), folder, "plan", model);
        assertEquals(1, full.exitCode(), full.err());
        assertTrue(full.err().endsWith("djlplan: the output cannot be written\n"), full.err());
    }

    @Test
    @Tag("long")
    void run_stock_measuresAndRepeatsItsOutputs() throws Exception {
        JsonObject few =
                djlplan("run", "--stock", "--json", "--iterations", "3", "--warmup", "0", model)
                        .json();
        JsonObject many =
                DjlPlanProcess.runHere("run", "--stock", "--json", "--iterations", "40", model)
                        .json();
        JsonObject other =
                DjlPlanProcess.runHere("run", "--stock", "--json", "--seed", "2", model).json();
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
        Result result =
                djlplan(
                        "compare",
                        "--no-delegation",
                        "--threads",
                        "1",
                        "--json",
                        "--iterations",
                        "7",
                        model);
        assertEquals(0, result.exitCode(), result.err());
        JsonObject comparison = result.json();
        assertTrue(comparison.get("identical").getAsBoolean());
        assertEquals(0, comparison.get("maxRelativeError").getAsDouble());
        assertTrue(comparison.get("delegated").isJsonNull(), comparison.toString());
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

    @Tag("long")
    @Test
    void compare_nothingStored_measuresFirstAndShowsAllThree() throws Exception {
        String[] line = {
            "compare", "--json", "--iterations", "6", "-o", "delegation.profile=blocking:1s", model
        };
        Result first = djlplan(line);
        assertEquals(0, first.exitCode(), first.err());
        assertTrue(first.err().contains("is stored: it is measured first"), first.err());
        assertNoNews(first);
        JsonObject comparison = first.json();
        assertTrue(comparison.get("identical").getAsBoolean());
        JsonObject delegated = comparison.getAsJsonObject("delegated");
        assertTrue(delegated.get("agrees").getAsBoolean(), delegated.toString());
        assertTrue(delegated.get("limit").getAsDouble() >= 1e-4, delegated.toString());
        assertTrue(delegated.get("medianMillis").getAsDouble() > 0, delegated.toString());
        JsonObject delegation = delegated.getAsJsonObject("delegation");
        assertEquals("STORED", delegation.get("origin").getAsString(), delegation.toString());
        assertEquals(3, delegation.get("operators").getAsInt());
        assertTrue(comparison.getAsJsonObject("planned").get("delegation").isJsonNull());

        // The budget is not part of the key: an application without options finds this result.
        Result run = djlplan("run", "--json", "--iterations", "2", model);
        assertFalse(run.err().contains("is stored"), run.err());
        assertEquals(delegation, run.json().getAsJsonObject("delegation"));
        Result table = djlplan("compare", "--only-delegation", "--iterations", "2", model);
        assertEquals(0, table.exitCode(), table.err());
        assertFalse(table.err().contains("measured first"), table.err());
        assertNoNews(table);
        assertTrue(
                table.out().lines().anyMatch(l -> l.matches(" +stock +delegated +delegated/stock")),
                table.out());
        assertTrue(table.out().contains("\ndelegated: outputs a"), table.out());
    }

    /** Asserts that the command printed neither lines of the engine nor of its worker. */
    private static void assertNoNews(Result result) {
        assertFalse((result.out() + result.err()).contains("INFO: "), result.err());
        assertFalse((result.out() + result.err()).contains("djlplan-news"), result.err());
    }

    @Tag("long")
    @Test
    void compare_nothingToDelegate_saysThatTheCpuKernelsWereChosen() throws Exception {
        NetworkBuilder network = new NetworkBuilder("tanh", 1);
        LayerOutput x = network.unary("TANH", network.input("in", 1, 32, 32, 3));
        Path file = folder.resolve("tanh.tflite");
        TfLiteWriter.write(network.output(x).build(), file);
        Result result =
                djlplan("compare", "--only-delegation", "--iterations", "2", file.toString());
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(
                result.out()
                        .lines()
                        .anyMatch(
                                line ->
                                        line.matches(
                                                "delegated: the CPU kernels were chosen, .*: .+")),
                result.out());
    }

    @Test
    void run_nothingStored_saysHowToMeasure() throws Exception {
        Result result = djlplan("run", "--iterations", "2", model);
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.err().contains("`djlplan tune " + model + "`"), result.err());
        assertTrue(
                result.out().contains("\ndelegated: the CPU kernels were chosen, "), result.out());
    }

    @Tag("long")
    @Test
    void compare_againstTunedMalloc_hasItsFiguresAndRatios() throws Exception {
        JsonObject against =
                djlplan(
                                "compare",
                                "--no-delegation",
                                "--against",
                                "tuned-malloc",
                                "--json",
                                "--iterations",
                                "3",
                                model)
                        .json()
                        .getAsJsonObject("against");
        JsonObject tuned = against.getAsJsonObject("tuned-malloc");
        assertTrue(
                tuned.getAsJsonObject("figures").get("medianMillis").getAsDouble() > 0,
                tuned.toString());
        assertTrue(
                tuned.getAsJsonObject("ratios").get("medianMillis").getAsDouble() > 0,
                tuned.toString());
    }

    @Tag("long")
    @Test
    void demo_smallEffort_writesItsReport() throws Exception {
        Result result = DjlPlanProcess.run(folder, demoLine());
        String page = assertDemo(result);
        assertTrue(result.out().contains("zoo:mobilenet_v2 (PyTorch"), result.out());
        assertTrue(report().getAsJsonObject("pyTorch").get("identical").getAsBoolean());
        assertTrue(page.contains("\"delegated/stock\""), page);
        assertTrue(report().getAsJsonObject("delegated").get("agrees").getAsBoolean());
    }

    @Tag("long")
    @Test
    void demo_noPyTorch_warnsAndShowsTfLite() throws Exception {
        String[] line = ObjectArrays.concat(demoLine(), "--no-delegation");
        Result result = DjlPlanProcess.runWithout("pytorch-engine", folder, line);
        String page = assertDemo(result);
        assertTrue(result.err().contains("PyTorch engine is not on the class path"), result.err());
        assertTrue(report().get("pyTorch").isJsonNull());
        assertFalse(page.contains("\"delegated/stock\""), page);
    }

    private String[] demoLine() {
        return new String[] {
            "demo", "--iterations", "2", "--warmup", "0", "--out", folder.toString()
        };
    }

    /** Returns the page. */
    private String assertDemo(Result result) throws IOException {
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(report().get("identical").getAsBoolean());
        String page = Files.readString(folder.resolve("djlplan-demo.html"));
        assertTrue(page.startsWith("<!doctype html>") && page.contains("mobilenet_v2"), page);
        assertTrue(result.out().contains("djlplan-demo.html"), result.out());
        assertNoNews(result);
        return page;
    }

    private JsonObject report() throws IOException {
        String json = Files.readString(folder.resolve("djlplan-demo.json"));
        return JsonParser.parseString(json).getAsJsonObject();
    }

    @Test
    void run_processKilled_reportsKillAndExitsWith1() throws Exception {
        DjlPlanProcess parent =
                DjlPlanProcess.start(folder, "run", "--stock", "--iterations", "10000000", model);
        ProcessHandle child = awaitTimingChild(parent.process());
        child.destroyForcibly();
        Result result = parent.finish();
        assertEquals(1, result.exitCode());
        assertTrue(result.err().contains("was killed (signal 9)"), result.err());
        assertFalse(result.err().contains("\tat "), result.err());
    }

    @Test
    @Tag("long")
    void run_parentKilled_leavesNoProcess() throws Exception {
        DjlPlanProcess parent =
                DjlPlanProcess.start(folder, "run", "--stock", "--iterations", "10000000", model);
        ProcessHandle child = awaitTimingChild(parent.process());
        parent.process().destroyForcibly();
        child.onExit().get(30, TimeUnit.SECONDS);
        assertFalse(child.isAlive());
    }

    /** Waits for the child that runs the model, until it is busy. */
    private static ProcessHandle awaitTimingChild(Process parent) {
        Await.until(() -> !parent.isAlive() || parent.children().anyMatch(CommandsTest::isBusy));
        assertTrue(parent.isAlive(), "ended early");
        return parent.children().filter(CommandsTest::isBusy).findAny().orElseThrow();
    }

    private static boolean isBusy(ProcessHandle child) {
        return child.info().totalCpuDuration().map(used -> used.toSeconds()).orElse(0L) >= 2;
    }

    private Result djlplan(String... arguments) throws IOException, InterruptedException {
        return DjlPlanProcess.run(folder, arguments);
    }
}
