package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.memplan.cli.demo.Activation;
import org.djlplan.memplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.cli.demo.Value;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.source.tflite.TfLiteTensor;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code djlplan report} with real engines, as a user starts it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ReportCommandTest {

    private static final List<String> HOSTILE =
            List.of(
                    "<script>document.title='owned'</script>",
                    "\"><img src=x onerror=alert(1)>",
                    "</script><!--",
                    "\u202eright to left\u2028\u0000",
                    "n".repeat(10_000));

    @TempDir Path folder;

    private static TfLiteFile network() {
        NetworkBuilder network = new NetworkBuilder("net", 1);
        Value x = network.input("in", 1, 16, 16, 8);
        for (int i = 0; i < 6; i++) {
            x = network.conv2d(x, 8, 3, 1, Activation.RELU6);
        }
        return network.output(x).build();
    }

    private Result djlplan(String... arguments) throws Exception {
        Result result = DjlPlanProcess.run(folder, arguments);
        assertEquals(0, result.exitCode(), result.err());
        return result;
    }

    private JsonObject read(String name) throws IOException {
        return JsonParser.parseString(Files.readString(folder.resolve(name))).getAsJsonObject();
    }

    private static Optional<JsonObject> strategy(JsonObject plan, String name) {
        return plan.getAsJsonArray("strategies").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(each -> each.get("name").getAsString().equals(name))
                .findFirst();
    }

    @Test
    void liveModel_hasTheNumbersOfPlanAndRun_andTheEnginesArena() throws Exception {
        Path model = folder.resolve("net.tflite");
        TfLiteWriter.write(network(), model);
        String data = folder.resolve("data.json").toString();
        djlplan("report", model.toString(), "--json", data);
        JsonObject plan = read("data.json").getAsJsonObject("plan");
        Result planned = DjlPlanProcess.run(folder, "plan", "--live", "--json", model.toString());
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

    /** Three predict at once: never more are busy or wait, and each has run. */
    @Tag("long")
    @Test
    void predictors_showTheWorkers_andWhatTheMemoryIsFor() throws Exception {
        Path model = folder.resolve("net.tflite");
        TfLiteWriter.write(network(), model);
        String data = folder.resolve("data.json").toString();
        djlplan(
                "report",
                model.toString(),
                "--predictors",
                "3",
                "--iterations",
                "300",
                "--no-delegation",
                "--json",
                data);
        JsonObject report = read("data.json");
        int most = 0;
        for (JsonElement each : report.getAsJsonObject("workers").getAsJsonArray("samples")) {
            JsonObject sample = each.getAsJsonObject();
            int all = sample.get("busy").getAsInt() + sample.get("waiting").getAsInt();
            assertTrue(all <= 3, sample.toString());
            most = Math.max(most, all);
        }
        assertTrue(most > 0, "nothing was seen to run");
        Map<String, Long> owners = new HashMap<>();
        for (JsonElement each : report.getAsJsonArray("memory")) {
            JsonObject owner = each.getAsJsonObject();
            owners.put(owner.get("owner").getAsString(), owner.get("bytes").getAsLong());
        }
        long arena =
                strategy(report.getAsJsonObject("plan"), "engine")
                        .orElseThrow()
                        .get("totalBytes")
                        .getAsLong();
        assertTrue(owners.get("arena") > 0 && owners.get("arena") <= 3 * arena, owners.toString());
        long ofOne = 2 * 16 * 16 * 8 * Float.BYTES;
        assertEquals(0, owners.get("inputs and outputs") % ofOne, owners.toString());
        assertTrue(owners.get("mapped file") <= Files.size(model) + 4096, owners.toString());
    }

    private static void assertRecorded(JsonObject run, JsonObject plan) {
        assertEquals(run.get("naiveBytes").getAsLong(), plan.get("naiveBytes").getAsLong());
        assertEquals(
                run.get("lowerBoundBytes").getAsLong(), plan.get("lowerBoundBytes").getAsLong());
        assertEquals(
                run.get("arenaBytes").getAsLong(),
                strategy(plan, "in use").orElseThrow().get("totalBytes").getAsLong());
    }

    @Tag("long")
    @Test
    void recordedNetwork_hasTheNumbersOfRun() throws Exception {
        String data = folder.resolve("data.json").toString();
        djlplan("report", "zoo:resnet18", "--input-shape", "1,3,32,32", "--json", data);
        JsonObject report = read("data.json");
        JsonObject plan = report.getAsJsonObject("plan");
        assertEquals("recording", report.getAsJsonObject("model").get("view").getAsString());
        assertTrue(plan.getAsJsonArray("tensors").size() > 50, "allocations");
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
        plan.addProperty("naiveBytes", plan.get("naiveBytes").getAsLong() - 64);
        assertThrows(AssertionError.class, () -> assertRecorded(run, plan), "a wrong number");
    }

    @Test
    void hostileNames_areNoMarkupAndNoPaths() throws Exception {
        Path model = folder.resolve("hostile.tflite");
        TfLiteWriter.write(named(network()), model);
        Path page = folder.resolve("page.html");
        djlplan(
                "report",
                model.toString(),
                "--html",
                page.toString(),
                "--svg",
                folder.resolve("map.svg").toString(),
                "--trace",
                folder.resolve("trace.json").toString());
        String html = Files.readString(page);
        assertFalse(html.contains("<script>document"), "a name is markup");
        assertFalse(html.contains("<img src=x"), "a name is markup");
        assertFalse(html.contains("</script><!--"), "a name ends a script");
        assertTrue(html.contains("\\u003cscript\\u003edocument.title"), "the name is not there");
        assertTrue(html.contains("n".repeat(10_000)), "the long name is not whole");
        assertTrue(read("trace.json").getAsJsonArray("traceEvents").size() > 10);
    }

    private static TfLiteFile named(TfLiteFile file) {
        TfLiteSubgraph graph = file.main();
        List<TfLiteTensor> tensors = new ArrayList<>();
        for (TfLiteTensor tensor : graph.tensors()) {
            tensors.add(
                    new TfLiteTensor(
                            tensor.shape(),
                            tensor.shapeSignature(),
                            tensor.typeCode(),
                            tensor.buffer(),
                            HOSTILE.get(tensors.size() % HOSTILE.size()),
                            tensor.quantization(),
                            tensor.isVariable(),
                            tensor.sparsity(),
                            tensor.hasRank()));
        }
        return new TfLiteFile(
                file.description(),
                file.operatorCodes(),
                List.of(
                        new TfLiteSubgraph(
                                graph.name(),
                                tensors,
                                graph.inputs(),
                                graph.outputs(),
                                graph.operators())),
                file.buffers(),
                file.metadataBuffers(),
                file.metadata(),
                file.signatures(),
                file.notCarried());
    }
}
