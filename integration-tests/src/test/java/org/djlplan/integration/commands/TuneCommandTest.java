package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands that measure delegation. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class TuneCommandTest {

    private static final String BUDGET = "--budget=1s";

    @TempDir Path folder;
    private Path model = Path.of("");

    @BeforeEach
    void writeModel() throws IOException {
        model = folder.resolve("small.tflite");
        writeSmall(model, 1);
    }

    /** Writes convolutions with an operator between them that XNNPACK does not support. */
    private static void writeSmall(Path file, long seed) throws IOException {
        NetworkBuilder network = new NetworkBuilder("small", seed);
        LayerOutput x = network.input("in", 1, 32, 32, 3);
        x = network.conv2d(x, 16, 3, 1, Activation.RELU6);
        x = network.conv2d(x, 16, 3, 1, Activation.RELU6);
        x = network.unary("TANH", x);
        x = network.conv2d(x, 4, 3, 2, Activation.NONE);
        TfLiteWriter.write(network.output(x).build(), file);
    }

    private static Result djlplan(String... arguments) {
        return DjlPlanProcess.runHere(arguments);
    }

    private Result show() {
        return djlplan("tune", "--show", "--json", model.toString());
    }

    private List<Path> kept() throws IOException {
        Path store = folder.resolve(".djlplan");
        if (!Files.exists(store)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(store)) {
            return files.filter(file -> file.toString().endsWith(".profile.json")).toList();
        }
    }

    private static JsonObject onlyTable(Result result) {
        assertEquals(0, result.exitCode(), result.err());
        JsonArray tables = result.json().getAsJsonArray("tables");
        assertEquals(1, tables.size(), result.out());
        return tables.get(0).getAsJsonObject();
    }

    /** Runs the command in a separate process, as a user starts it. */
    @Test
    void tune_smallModel_isShownAndFoundByALoad() throws Exception {
        Result result =
                DjlPlanProcess.run(
                        folder,
                        "tune",
                        "--json",
                        "--explain",
                        "--threads=1",
                        BUDGET,
                        model.toString());
        JsonObject table = onlyTable(result);
        JsonArray explanation = table.remove("explanation").getAsJsonArray();
        assertEquals(4, explanation.size(), result.out());
        assertEquals(
                "XNNPACK 2.6 has no TANH",
                explanation.get(2).getAsJsonObject().get("reason").getAsString());
        assertTrue(table.get("kept").getAsBoolean());
        assertEquals("[[0,1],[3]]", table.get("partitions").toString());
        assertEquals("1", table.getAsJsonObject("key").get("threads").getAsString());
        assertTrue(table.getAsJsonArray("entries").size() >= 2, result.out());
        assertEquals(table, onlyTable(show()));

        assertReported(table);

        int operators = table.getAsJsonObject("chosen").getAsJsonArray("operators").size();
        DelegationReport report = load(model, Map.of("memplan.threads", "1"));
        assertEquals(Origin.STORED, report.origin());
        assertEquals(operators, report.delegatedOperators());
        // The reason may continue with other work that the machine did at the time.
        assertTrue(report.reason().startsWith(table.get("reason").getAsString()), report.reason());
        assertEquals(Origin.UNVERIFIED, load(model, Map.of()).origin());
    }

    /** Loads a model as an application does, but measures nothing. */
    private static DelegationReport load(Path file, Map<String, String> options) throws Exception {
        PlannedTranslatorFactory factory =
                new PlannedTranslatorFactory().with("delegation.profile", "off");
        for (Map.Entry<String, String> option : options.entrySet()) {
            factory = factory.with(option.getKey(), option.getValue());
        }
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .optTranslatorFactory(factory)
                        .build();
        try (ZooModel<NDList, NDList> loaded = criteria.loadModel()) {
            return PlanReport.of(loaded).orElseThrow().delegation().orElseThrow();
        }
    }

    private void assertReported(JsonObject table) throws Exception {
        Path data = folder.resolve("report.json");
        Result report = djlplan("report", model.toString(), "--json", data.toString());
        assertEquals(0, report.exitCode(), report.err());
        JsonObject delegation =
                JsonParser.parseString(Files.readString(data))
                        .getAsJsonObject()
                        .getAsJsonObject("delegation");
        JsonObject tanh = delegation.getAsJsonArray("explanation").get(2).getAsJsonObject();
        assertFalse(tanh.get("delegated").getAsBoolean());
        delegation.remove("explanation");
        assertEquals(table, delegation);
    }

    @Test
    void tune_noOptions_isFoundByALoadWithoutOptions() throws Exception {
        Result result = djlplan("tune", BUDGET, model.toString());
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.out().contains("\nfound by loads without options\n"), result.out());
        assertEquals(Origin.STORED, load(model, Map.of()).origin());
        assertEquals(Origin.UNVERIFIED, load(model, Map.of("memplan.threads", "1")).origin());
    }

    @NeedsModels(RealModels.TFLITE)
    @Test
    void tune_realModel_isFoundByALoadWithoutOptions() throws Exception {
        Path copy = Files.copy(RealModels.TFLITE.file("onet"), folder.resolve("onet.tflite"));
        JsonObject table = onlyTable(djlplan("tune", "--json", BUDGET, copy.toString()));
        assertEquals("{}", table.get("loads").toString());
        assertEquals(Origin.STORED, load(copy, Map.of()).origin());
    }

    @Test
    void tune_optionsOfALoad_areFoundByThatLoad() throws Exception {
        Map<String, String> options =
                Map.of("memplan.threads", "1", "delegation.objective", "memory");
        JsonObject table =
                onlyTable(
                        djlplan(
                                "tune",
                                "--json",
                                BUDGET,
                                "-o",
                                "memplan.threads=1",
                                "-o",
                                "delegation.objective=memory",
                                model.toString()));
        JsonObject loads = table.getAsJsonObject("loads");
        assertEquals("1", loads.get("memplan.threads").getAsString(), loads.toString());
        assertEquals("memory", loads.get("delegation.objective").getAsString(), loads.toString());
        assertEquals(2, loads.size(), loads.toString());
        assertEquals(Origin.STORED, load(model, options).origin());
        assertEquals(Origin.UNVERIFIED, load(model, Map.of()).origin());
    }

    /** On another machine of this kind there are only the model and, separately, the folder. */
    @Test
    void tune_intoFolder_pinsJobsThatUseIt() throws Exception {
        Path into = folder.resolve("tuned");
        Result result = djlplan("tune", "--threads=1", BUDGET, "--into=" + into, model.toString());
        assertEquals(0, result.exitCode(), result.err());
        Map<String, String> pin =
                Map.of(
                        "memplan.threads",
                        "1",
                        "delegation.profileFrom",
                        into.toString(),
                        "delegation.onMissing",
                        "fail");
        Path machine = Files.createDirectory(folder.resolve("machine"));
        Path copy = Files.copy(model, machine.resolve("small.tflite"));

        DelegationReport pinned = load(copy, pin);

        assertEquals(Origin.STORED, pinned.origin(), pinned.reason());
        DelegationReport tuned = load(model, Map.of("memplan.threads", "1"));
        assertEquals(Origin.STORED, tuned.origin(), tuned.reason());
        assertEquals(tuned.choiceId(), pinned.choiceId());

        // The same name and operators, but other weights.
        writeSmall(copy, 2);
        Exception error = assertThrows(Exception.class, () -> load(copy, pin));
        String message = Throwables.getRootCause(error).getMessage();
        assertTrue(message.contains(into.toString()), message);
        assertTrue(message.contains("djlplan tune"), message);
    }

    @Test
    @Tag("long")
    void tune_damagedFile_isReportedAndRebuilt() throws Exception {
        JsonObject before =
                onlyTable(djlplan("tune", "--json", "--threads=1", BUDGET, model.toString()));
        assertTrue(before.get("kept").getAsBoolean(), before.toString());
        Path file = kept().get(0);
        String text = Files.readString(file);
        Files.writeString(file, text.substring(0, text.length() / 2));
        // The log says what is wrong with the file.
        Result damaged = DjlPlanProcess.run(folder, "tune", "--show", "--json", model.toString());
        assertEquals(1, damaged.exitCode());
        assertTrue(damaged.err().contains(file.getFileName() + " cannot be used"), damaged.err());
        JsonObject after =
                onlyTable(djlplan("tune", "--json", "--threads=1", BUDGET, model.toString()));
        assertEquals(List.of(file), kept());
        assertEquals(before.get("key"), after.get("key"));
        assertEquals(after, onlyTable(show()));
    }

    @Test
    @Tag("long")
    void tune_terminated_leavesNoProcess() throws Exception {
        String threads =
                IntStream.rangeClosed(1, 16)
                        .mapToObj(Integer::toString)
                        .collect(Collectors.joining(","));
        DjlPlanProcess command =
                DjlPlanProcess.start(folder, "tune", "--threads", threads, model.toString());
        Await.until(() -> !kept().isEmpty() || !command.process().isAlive());
        List<ProcessHandle> children = command.process().descendants().toList();
        command.process().destroy();
        Result result = command.finish();
        assertNotEquals(0, result.exitCode());
        assertFalse(kept().isEmpty(), "what was measured to the end stays");
        for (ProcessHandle child : children) {
            child.onExit().get(30, TimeUnit.SECONDS);
        }
    }
}
