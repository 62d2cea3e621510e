package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that a report has the numbers that other commands print for the same model. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ReportNumbersTest extends ReportTests {

    private static final int RUNS = 21;

    @Test
    @Tag("long")
    void liveModel_hasTheNumbersOfPlanAndRun_andTheEnginesArena() throws Exception {
        Path model = net();
        JsonObject plan = report(model.toString()).getAsJsonObject("plan");
        Result planned = djlplan("plan", "--live", "--json", model.toString());
        JsonObject numbers = JsonParser.parseString(planned.out()).getAsJsonObject();
        for (String key : List.of("naiveBytes", "lowerBoundBytes", "aliasedLowerBoundBytes")) {
            assertEquals(numbers.get(key), plan.get(key), key);
        }
        assertEquals(numbers.getAsJsonObject("best").get("strategy"), plan.get("best"));
        JsonObject run =
                djlplan("run", "--json", "--no-delegation", "--iterations", "1", model.toString())
                        .json();
        JsonObject engine = strategy(plan, "engine").orElseThrow();
        assertEquals(run.get("stockArenaBytes").getAsLong(), engine.get("totalBytes").getAsLong());
        assertTrue(
                engine.getAsJsonArray("offsets").asList().stream()
                        .anyMatch(offset -> !offset.isJsonNull()));
        assertTrue(plan.getAsJsonArray("operators").contains(new JsonPrimitive("CONV_2D")));
    }

    /** The outputs are in use during a run, but a plan leaves them out. */
    private static void assertRecorded(JsonObject run, JsonObject plan) {
        for (String each : List.of("naiveBytes", "lowerBoundBytes")) {
            long inUse = run.get(each).getAsLong();
            long planned = plan.get(each).getAsLong();
            assertTrue(
                    Math.abs(inUse - planned) <= .01 * planned, each + inUse + " and " + planned);
        }
        assertTrue(
                run.get("arenaBytes").getAsLong() >= run.get("lowerBoundBytes").getAsLong(),
                run.toString());
    }

    @Tag("long")
    @Test
    void recordedNetwork_hasTheNumbersOfRun() throws Exception {
        JsonObject report = report("zoo:resnet18", "--input-shape", "1,3,32,32");
        JsonObject plan = report.getAsJsonObject("plan");
        assertEquals("recording", report.getAsJsonObject("model").get("view").getAsString());
        assertTrue(plan.getAsJsonArray("tensors").size() > 50, "allocations");
        Map<String, Integer> makers = makers(plan);
        assertTrue(makers.get("aten::conv2d") >= 20, makers::toString);
        assertTrue(makers.get("aten::batch_norm") >= 20, makers::toString);
        assertFalse(makers.containsKey(""), makers::toString);
        JsonObject run =
                djlplan(
                                "run",
                                "--json",
                                "--iterations",
                                "5",
                                "--input-shape",
                                "1,3,32,32",
                                "zoo:resnet18")
                        .json();
        assertRecorded(run, plan);
    }

    private static double median(JsonObject way) {
        List<Double> nanos =
                way.getAsJsonArray("latencyNanos").asList().stream()
                        .map(JsonElement::getAsDouble)
                        .sorted()
                        .toList();
        assertEquals(RUNS, nanos.size(), way.toString());
        return nanos.get(RUNS / 2);
    }

    /**
     * Compares the table, which has the workers' own medians, with the latencies that they sent.
     */
    private static void assertMediansOfTheTable(JsonObject run) {
        JsonObject table = run.getAsJsonArray("tables").get(0).getAsJsonObject();
        List<JsonElement> row =
                table.getAsJsonArray("rows").asList().stream()
                        .map(JsonElement::getAsJsonArray)
                        .filter(each -> each.get(0).getAsString().equals("latency, median"))
                        .findFirst()
                        .orElseThrow()
                        .asList();
        for (int i = 0; i < 2; i++) {
            JsonObject way = run.getAsJsonArray("ways").get(i).getAsJsonObject();
            String cell = row.get(1 + i).getAsString();
            double millis = Double.parseDouble(cell.replace(" ms", ""));
            assertEquals(millis, median(way) / 1e6, 0.0011 + millis / 100, cell);
        }
    }

    @Tag("long")
    @Test
    void runs_haveTheLatenciesOfTheTable() throws Exception {
        Path model = net();
        JsonObject run =
                report(
                                model.toString(),
                                "--runs",
                                Integer.toString(RUNS),
                                "--threads",
                                "1",
                                "--no-delegation")
                        .getAsJsonObject("run");
        JsonObject table = run.getAsJsonArray("tables").get(0).getAsJsonObject();
        assertMediansOfTheTable(run);
        assertTrue(table.get("notes").toString().contains("planned: outputs are identical"));
        JsonObject planned = run.getAsJsonArray("ways").get(1).getAsJsonObject();
        assertEquals("planned", planned.get("name").getAsString());
    }

    private static void assertWithin(JsonObject budgets) {
        long stock = budgets.getAsJsonObject("stock").get("peakAboveIdleBytes").getAsLong();
        List<JsonElement> points = budgets.getAsJsonArray("budgets").asList();
        JsonObject share = points.get(0).getAsJsonObject();
        long bytes = share.get("budgetBytes").getAsLong();
        assertEquals(0.75 * stock, (double) bytes, 1);
        JsonObject warm = share.getAsJsonObject("warm");
        double ratio = warm.get("median").getAsDouble();
        assertTrue(warm.get("low").getAsDouble() <= ratio, share.toString());
        assertTrue(warm.get("high").getAsDouble() >= ratio, share.toString());
        JsonObject weights = share.getAsJsonObject("weights");
        long inMemory = weights.get("pinnedBytes").getAsLong();
        assertTrue(inMemory <= bytes, share.toString());
        for (JsonElement change : weights.getAsJsonArray("changes")) {
            inMemory += change.getAsJsonObject().get("bytes").getAsLong();
            assertTrue(inMemory <= bytes, share.toString());
        }
    }

    @Tag("long")
    @Test
    void budget_isAShareOfTheStockPeak_andNeverExceeded() throws Exception {
        NetworkBuilder network = new NetworkBuilder("weights", 1);
        LayerOutput x = network.input("in", 1, 4, 4, 256);
        for (int i = 0; i < 16; i++) {
            x = network.conv2d(x, 256, 3, 1, Activation.RELU6);
        }
        Path model = folder.resolve("weights.tflite");
        TfLiteWriter.write(network.output(x).build(), model);
        JsonObject budgets =
                report(
                                model.toString(),
                                "--budgets",
                                "3/4",
                                "--iterations",
                                "1",
                                "--threads",
                                "1",
                                "--no-delegation")
                        .getAsJsonObject("budget");
        assertWithin(budgets);
    }

    /** Times differ from run to run. */
    private static JsonObject withoutTimes(JsonObject plan) {
        JsonObject copy = plan.deepCopy();
        copy.getAsJsonArray("strategies").forEach(s -> s.getAsJsonObject().remove("millis"));
        return copy;
    }

    private static void assertSamePlan(JsonObject model, JsonObject alone) {
        JsonObject plan = model.getAsJsonObject("plan");
        assertEquals(withoutTimes(alone), withoutTimes(plan));
        JsonObject best = strategy(plan, plan.get("best").getAsString()).orElseThrow();
        assertEquals(best.get("totalBytes"), model.get("arenaBytes"));
    }

    @Tag("long")
    @Test
    void with_hasThePlanOfTheOtherModelAlone() throws Exception {
        Path model = net();
        NetworkBuilder network = new NetworkBuilder("other", 1);
        LayerOutput x = network.conv2d(network.input("in", 1, 8, 8, 4), 16, 3, 1, Activation.RELU6);
        x = network.conv2d(x, 4, 1, 1, Activation.NONE);
        Path other = folder.resolve("other.tflite");
        TfLiteWriter.write(network.output(x).build(), other);
        String both = folder.resolve("both.json").toString();
        String alone = folder.resolve("alone.json").toString();
        djlplan("report", model.toString(), "--with", other.toString(), "--json", both);
        djlplan("report", other.toString(), "--json", alone);
        JsonArray models = read("both.json").getAsJsonArray("models");
        JsonObject own = models.get(0).getAsJsonObject();
        JsonObject second = models.get(1).getAsJsonObject();
        JsonObject expected = read("alone.json").getAsJsonObject("plan");
        assertSamePlan(own, read("both.json").getAsJsonObject("plan"));
        assertSamePlan(second, expected);
    }
}
