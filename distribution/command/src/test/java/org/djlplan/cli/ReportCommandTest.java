package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.study.csv.CsvFiles;
import org.djlplan.study.csv.CsvPlan;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReportCommandTest extends CommandTest {

    private static final String RECORDS =
            """
            id,lower,upper,size
            <script>alert(1)</script>,0,2,32
            b,1,5,28
            c,2,6,36
            d,3,6,16
            e,4,6,8
            f,5,8,64
            """;

    /** The numbers that the report takes from the plan command. */
    private static final List<String> NUMBERS =
            List.of(
                    "naiveBytes",
                    "lowerBoundBytes",
                    "aliasedLowerBoundBytes",
                    "sharedObjectsLowerBoundBytes");

    private Path csv = Path.of("");
    private Path data = Path.of("");

    @BeforeEach
    void write() throws IOException {
        csv = Files.writeString(folder.resolve("records.csv"), RECORDS);
        data = folder.resolve("report.json");
    }

    private int report(Object... arguments) {
        return execute(new ReportCommand(), arguments);
    }

    private static JsonObject read(Path file) throws IOException {
        return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
    }

    private JsonObject planned(Object... arguments) {
        out.getBuffer().setLength(0);
        assertEquals(
                0,
                execute(
                        new PlanCommand(),
                        Stream.concat(Stream.of("--json"), Arrays.stream(arguments)).toArray()),
                err::toString);
        return json();
    }

    /** Asserts that every number of the page's plan equals the plan command's. */
    private static void assertSameNumbers(JsonObject plan, JsonObject report) {
        JsonObject map = report.getAsJsonObject("plan");
        for (String name : NUMBERS) {
            assertEquals(plan.get(name), map.get(name), name);
        }
        long records =
                map.getAsJsonArray("tensors").asList().stream()
                        .map(JsonElement::getAsJsonObject)
                        .filter(tensor -> !tensor.get("owner").getAsString().equals("io"))
                        .count();
        assertEquals(plan.get("records").getAsLong(), records);
        List<JsonElement> results = plan.getAsJsonArray("results").asList();
        List<JsonElement> strategies = map.getAsJsonArray("strategies").asList();
        for (int i = 0; i < results.size(); i++) {
            JsonObject result = results.get(i).getAsJsonObject();
            JsonObject strategy = strategies.get(i).getAsJsonObject();
            assertEquals(result.get("strategy"), strategy.get("name"));
            assertEquals(result.get("totalBytes"), strategy.get("totalBytes"));
            assertEquals(result.get("valid"), strategy.get("valid"));
            assertSameObjects(result, strategy);
        }
        JsonObject best = plan.getAsJsonObject("best");
        assertEquals(best.get("strategy"), map.get("best"));
        assertTrue(
                strategies.stream()
                        .map(JsonElement::getAsJsonObject)
                        .anyMatch(
                                each ->
                                        each.get("name").equals(best.get("strategy"))
                                                && each.get("provedMinimal")
                                                        .equals(best.get("provedMinimal"))));
        long widest =
                map.getAsJsonArray("breadthBytes").asList().stream()
                        .mapToLong(JsonElement::getAsLong)
                        .max()
                        .orElse(0);
        assertEquals(plan.get("lowerBoundBytes").getAsLong(), widest);
    }

    /** Asserts that objects lie end to end, each as large as the plan command says. */
    private static void assertSameObjects(JsonObject result, JsonObject strategy) {
        List<Long> objects = new ArrayList<>();
        long end = 0;
        if (strategy.has("objects")) {
            for (JsonElement each : strategy.getAsJsonArray("objects")) {
                JsonObject object = each.getAsJsonObject();
                assertEquals(end, object.get("offset").getAsLong());
                objects.add(object.get("bytes").getAsLong());
                end += object.get("bytes").getAsLong();
            }
        }
        assertEquals(
                strategy.get("layout").getAsString().equals("shared-objects"),
                result.has("objectBytes"));
        if (result.has("objectBytes")) {
            assertEquals(
                    result.getAsJsonArray("objectBytes").asList().stream()
                            .map(JsonElement::getAsLong)
                            .toList(),
                    objects);
        }
    }

    /** Returns the offset of each tensor by its name, from the plan command's file. */
    private Map<String, Long> offsetsOf(String strategy) throws IOException {
        Path plan = folder.resolve("plan.csv");
        JsonObject unused = planned(csv, "--strategy", strategy, "--out", plan);
        CsvPlan offsets = CsvFiles.readPlan(plan);
        Files.delete(plan);
        Map<String, Long> byName = new HashMap<>();
        offsets.offsets()
                .forEach((tensor, offset) -> byName.put(offsets.ids().get(tensor), offset));
        return byName;
    }

    @Test
    void report_sharedObjects_holdTheTensorsThatThePlanCommandPutsThere() throws IOException {
        assertEquals(0, report(csv, "--json", data), err::toString);
        JsonObject plan = read(data).getAsJsonObject("plan");
        int compared = 0;
        for (JsonElement each : plan.getAsJsonArray("strategies")) {
            JsonObject strategy = each.getAsJsonObject();
            if (strategy.has("objects")) {
                Map<String, Long> shown = new HashMap<>();
                for (int i = 0; i < plan.getAsJsonArray("tensors").size(); i++) {
                    shown.put(
                            plan.getAsJsonArray("tensors")
                                    .get(i)
                                    .getAsJsonObject()
                                    .get("name")
                                    .getAsString(),
                            strategy.getAsJsonArray("offsets").get(i).getAsLong());
                }
                assertEquals(offsetsOf(strategy.get("name").getAsString()), shown);
                compared++;
            }
        }
        assertTrue(compared >= 3, compared + " plans of shared objects");
    }

    @Test
    void report_records_hasTheNumbersOfThePlanCommand() throws IOException {
        assertEquals(0, report(csv, "--json", data), err::toString);
        assertSameNumbers(planned(csv), read(data));
    }

    @Test
    void report_model_hasTheNumbersOfThePlanCommand() throws IOException {
        Path model = folder.resolve("m.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), model);
        assertEquals(0, report(model, "--json", data, "--time-limit", "0s"), err::toString);
        JsonObject report = read(data);
        assertSameNumbers(planned(model, "--time-limit", "0s"), report);
        JsonObject tensor =
                report.getAsJsonObject("plan").getAsJsonArray("tensors").get(0).getAsJsonObject();
        assertEquals(tensor.get("first"), tensor.get("producer"));
        assertTrue(tensor.getAsJsonArray("consumers").contains(tensor.get("last")));
        assertEquals("float32", tensor.get("type").getAsString());
        assertEquals(64, report.getAsJsonObject("model").get("sha256").getAsString().length());
    }

    @Test
    void report_allFiles_areWholeAndHarmless() throws Exception {
        Path page = folder.resolve("page.html");
        Path hostile = Files.copy(csv, folder.resolve("<b>&\u202e]]>.csv"));
        assertEquals(0, report(hostile, "--html", page, "--json", data), err::toString);
        String html = Files.readString(page);
        assertFalse(html.contains("<script>alert"), "names are no markup");
        assertTrue(html.contains("\\u003cscript\\u003ealert(1)"), "but they are there");
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(4, files.count(), "nothing is left beside the files");
        }
    }

    @Test
    void report_fails_leavesFilesAsTheyWere() throws IOException {
        Path page = Files.writeString(folder.resolve("page.html"), "old");
        Path broken = Files.writeString(folder.resolve("broken.csv"), "id,lower,upper,size\n1,x");
        assertEquals(1, report(broken, "--html", page));
        assertEquals("old", Files.readString(page));
        assertEquals(1, report(csv, "--html", folder.resolve("none").resolve("page.html")));
        assertTrue(err.toString().contains("no such folder"), err::toString);
    }

    @Test
    void report_wrongUse_isReported() {
        assertEquals(2, report(csv, "--runs", "3"));
        assertEquals(2, report(data));
        assertEquals(2, report(csv, data));
    }

    @Test
    void report_twentyThousandRecords_takesSecondsAndKeepsTheBestPlans() throws IOException {
        Random random = new Random(1);
        StringBuilder records = new StringBuilder("id,lower,upper,size\n");
        for (int i = 0; i < 20_000; i++) {
            int last = i + 1 + random.nextInt(random.nextInt(50) == 0 ? 4000 : 40);
            records.append(i).append(',').append(i).append(',').append(last).append(',');
            records.append(64 * (1 + random.nextInt(5000))).append('\n');
        }
        Path many = Files.writeString(folder.resolve("many.csv"), records);
        long start = System.nanoTime();
        assertEquals(0, report(many, "--json", data, "--time-limit", "0s"), err::toString);
        assertTrue(System.nanoTime() - start < 60e9, "some seconds, on a machine that is not idle");
        JsonObject plan = read(data).getAsJsonObject("plan");
        JsonObject best =
                plan.getAsJsonArray("strategies").asList().stream()
                        .map(JsonElement::getAsJsonObject)
                        .filter(each -> each.get("name").equals(plan.get("best")))
                        .findFirst()
                        .orElseThrow();
        assertEquals(20_000, best.getAsJsonArray("offsets").size());
        assertTrue(Files.size(data) < 12_000_000, "size: " + Files.size(data));
    }

    @Test
    void report_thousandTensors_fitsIntoTwoMegabytes() throws IOException {
        StringBuilder records = new StringBuilder("id,lower,upper,size\n");
        for (int i = 0; i < 1000; i++) {
            records.append("model/block_").append(i).append("/batch_normalization/FusedBatchNorm,");
            records.append(i).append(',').append(i + 1 + i % 7).append(',').append(64000 + i);
            records.append('\n');
        }
        Path thousand = Files.writeString(folder.resolve("thousand.csv"), records);
        Path page = folder.resolve("page.html");
        assertEquals(0, report(thousand, "--html", page, "--time-limit", "0s"), err::toString);
        assertTrue(Files.size(page) <= 2_000_000, "size: " + Files.size(page));
    }

    @Test
    void report_recordsFarApart_keepsOnlyStepsWhereSomethingChanges() throws IOException {
        Path sparse =
                Files.writeString(
                        folder.resolve("sparse.csv"),
                        "id,lower,upper,size\n0,0,1000000,64\n1,1000000,2000000000,32\n");
        assertEquals(0, report(sparse, "--json", data), err::toString);
        JsonObject plan = read(data).getAsJsonObject("plan");
        assertEquals("[0,999999,1000000,1999999999]", plan.get("stepNumbers").toString());
        assertEquals("[64,64,32,32]", plan.get("breadthBytes").toString());
    }

    @Test
    void with_anotherFile_hasBothPlans() throws IOException {
        Path other = Files.writeString(folder.resolve("other.csv"), RECORDS + "g,7,8,100\n");
        assertEquals(0, report(csv, "--with", other, "--json", data), err::toString);
        List<JsonElement> models = read(data).getAsJsonArray("models").asList();
        assertEquals(2, models.size());
        List<Long> naive = new ArrayList<>();
        for (JsonElement model : models) {
            naive.add(
                    model.getAsJsonObject().getAsJsonObject("plan").get("naiveBytes").getAsLong());
        }
        assertEquals(List.of(184L, 284L), naive);
        assertEquals("other.csv", models.get(1).getAsJsonObject().get("name").getAsString());
    }
}
