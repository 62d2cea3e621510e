package org.djlplan.memplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.GraphSketch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class PlanCommandTest {

    private static final String PAPER =
            """
            id,lower,upper,size
            0,0,2,32
            1,1,5,28
            2,2,6,36
            3,3,6,16
            4,4,6,8
            5,5,8,64
            6,6,9,10
            7,7,9,40
            """;

    @TempDir Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path csv;
    private Path model;

    @BeforeEach
    void write() throws IOException {
        csv = Files.writeString(folder.resolve("paper.csv"), PAPER);
        model = Files.writeString(folder.resolve("model.tflite"), "read by the test's own reader");
    }

    /** A convolution, an in-place chain of two, a convolution; live it also has a temporary. */
    private static Graph graph(boolean live) {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(16);
        int a = sketch.tensor(16);
        int b = sketch.tensor(16);
        int c = sketch.tensor(16);
        int output = sketch.tensor(16);
        int scratch = sketch.tensor(32);
        return sketch.operator(
                        "CONV_2D", List.of(input), List.of(a), live ? List.of(scratch) : List.of())
                .operator("RELU", b, a)
                .operator("TANH", c, b)
                .operator("CONV_2D", output, c)
                .output(output)
                .build();
    }

    private int run(Object... arguments) {
        GraphSource source =
                new GraphSource(
                        file -> graph(false), file -> graph(true), (block, inputs) -> graph(false));
        return execute(new PlanCommand(source), arguments);
    }

    private int execute(Object command, Object... arguments) {
        List<String> words = new ArrayList<>();
        for (Object argument : arguments) {
            words.add(argument.toString());
        }
        return new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler(
                        (e, line, parsed) -> {
                            line.getErr().println(e.getMessage());
                            return 1;
                        })
                .execute(words.toArray(String[]::new));
    }

    private JsonObject json() {
        return JsonParser.parseString(out.toString()).getAsJsonObject();
    }

    private static List<String> strategies(JsonObject json) {
        List<String> names = new ArrayList<>();
        for (JsonElement result : json.getAsJsonArray("results")) {
            names.add(result.getAsJsonObject().get("strategy").getAsString());
        }
        return names;
    }

    @Test
    void plan_csvAsJson_tellsThePapersFigures() {
        assertEquals(0, run("--json", csv));
        JsonObject json = json();
        assertEquals(8, json.get("records").getAsInt());
        assertEquals("csv", json.get("view").getAsString());
        assertEquals(234, json.get("naiveBytes").getAsLong());
        assertEquals(124, json.get("lowerBoundBytes").getAsLong());
        assertEquals(
                List.of("greedy-by-size", "greedy-by-breadth", "critical-first", "naive"),
                strategies(json));
        JsonObject naive = json.getAsJsonArray("results").get(3).getAsJsonObject();
        assertEquals(234, naive.get("totalBytes").getAsLong());
        assertEquals("offsets", naive.get("layout").getAsString());
        assertTrue(naive.get("valid").getAsBoolean());
        assertTrue(naive.get("millis").getAsDouble() >= 0);
        JsonObject best = json.getAsJsonObject("best");
        assertEquals("greedy-by-size", best.get("strategy").getAsString());
        assertEquals(124, best.get("totalBytes").getAsLong());
        assertEquals("offsets", best.get("layout").getAsString());
        assertTrue(best.get("valid").getAsBoolean());
        assertTrue(best.get("provedOptimal").getAsBoolean());
    }

    @Test
    void plan_modelFile_listsInPlacePlansToo() {
        assertEquals(0, run("--json", model));
        JsonObject json = json();
        assertEquals("file", json.get("view").getAsString());
        assertEquals(3, json.get("records").getAsInt());
        assertEquals(
                List.of(
                        "greedy-by-size",
                        "greedy-by-breadth",
                        "critical-first",
                        "naive",
                        "greedy-by-size+in-place",
                        "greedy-by-breadth+in-place",
                        "critical-first+in-place",
                        "naive+in-place"),
                strategies(json));
        assertEquals(128, json.get("lowerBoundBytes").getAsLong());
        JsonObject best = json.getAsJsonObject("best");
        assertEquals("greedy-by-size+in-place", best.get("strategy").getAsString());
        assertEquals(64, best.get("totalBytes").getAsLong());
    }

    @Test
    void plan_live_plansTemporariesAndSaysSo() {
        assertEquals(0, run("--json", "--live", model));
        assertEquals("live", json().get("view").getAsString());
        assertEquals(4, json().get("records").getAsInt());
    }

    @Test
    void plan_oneStrategyOrBest_listsOnlyThat() {
        assertEquals(0, run("--json", "--strategy", "greedy-by-breadth", csv));
        assertEquals(List.of("greedy-by-breadth"), strategies(json()));
        out.getBuffer().setLength(0);
        assertEquals(0, run("--json", "--strategy", "best", csv));
        assertEquals(List.of("greedy-by-size"), strategies(json()));
    }

    @Test
    void plan_aboveTheBound_isNotProvedOptimal() {
        assertEquals(0, run("--json", "--strategy", "naive", csv));
        assertFalse(json().getAsJsonObject("best").get("provedOptimal").getAsBoolean());
    }

    @Test
    void plan_asText_namesViewAndBest() {
        assertEquals(0, run("--repeat", 3, csv));
        assertTrue(out.toString().contains("8 records (view: csv)"), out::toString);
        assertTrue(
                out.toString().contains("best: greedy-by-size, 124 bytes, at the lower bound"),
                out::toString);
    }

    @Test
    void plan_capacity_decidesTheExitCode() {
        assertEquals(0, run("--capacity", 124, csv));
        assertEquals("", err.toString());
        assertEquals(1, run("--capacity", 123, csv));
        assertEquals(
                "djlplan: the best plan needs 124 bytes, more than the capacity of 123",
                err.toString().strip());
    }

    @Test
    void plan_out_isAPlanThatValidates() throws IOException {
        Path plan = folder.resolve("plan.csv");
        assertEquals(0, run("--out", plan, model));
        assertEquals(
                List.of(
                        "id,lower,upper,size,offset,alias",
                        "1,0,2,64,0,",
                        "2,1,3,64,0,1",
                        "3,2,4,64,0,1"),
                Files.readAllLines(plan));
        out.getBuffer().setLength(0);
        assertEquals(0, execute(new ValidateCommand(), plan));
        assertEquals("valid: 3 records in 64 bytes", out.toString().strip());
    }

    @Test
    void plan_wrongUsage_exitsWith2() {
        assertEquals(2, run("--strategy", "greedybysize", csv));
        assertTrue(err.toString().contains("did you mean 'greedy-by-size'?"), err::toString);
        assertEquals(2, run("--live", csv));
        assertEquals(2, run("--repeat", 0, csv));
        assertEquals(2, run("--capacity", -1, csv));
        assertEquals(2, run(folder.resolve("model.onnx")));
        assertEquals(2, run());
    }

    @Test
    void plan_missingOrBadFile_exitsWith1() throws IOException {
        assertEquals(1, run(folder.resolve("missing.csv")));
        assertEquals(1, run(folder.resolve("missing.tflite")));
        assertTrue(err.toString().contains("missing.csv: there is no such file"), err::toString);
        Files.writeString(csv, "id,lower,upper,size\n0,1,1,5\n");
        assertEquals(1, run(csv));
        assertTrue(err.toString().contains("line 2, column 'upper'"), err::toString);
    }

    @Test
    void validate_badPlan_namesEveryViolation() throws IOException {
        Path plan =
                Files.writeString(
                        folder.resolve("plan.csv"),
                        """
                        id,lower,upper,size,offset,alias
                        in,0,2,64,0,
                        mid,1,3,64,32,
                        out,2,4,64,-8,
                        """);
        assertEquals(1, execute(new ValidateCommand(), plan));
        assertEquals(
                List.of(
                        "negative-offset: out has the negative offset -8",
                        "overlap: in and mid overlap in time and space",
                        "overlap: mid and out overlap in time and space"),
                out.toString().lines().toList());
        out.getBuffer().setLength(0);
        assertEquals(1, execute(new ValidateCommand(), "--json", plan));
        JsonObject json = json();
        assertFalse(json.get("valid").getAsBoolean());
        assertEquals(96, json.get("totalBytes").getAsLong());
        JsonObject overlap = json.getAsJsonArray("violations").get(1).getAsJsonObject();
        assertEquals("overlap", overlap.get("rule").getAsString());
        assertEquals("[\"in\",\"mid\"]", overlap.get("tensors").toString());
    }

    @Test
    void validate_aliasElsewhere_isNamed() throws IOException {
        Path plan =
                Files.writeString(
                        folder.resolve("plan.csv"),
                        """
                        id,lower,upper,size,offset,alias
                        a,0,2,64,0,
                        b,1,3,64,64,a
                        """);
        assertEquals(1, execute(new ValidateCommand(), plan));
        assertEquals(
                "alias-apart: b is to share the place of a but does not", out.toString().strip());
    }

    @Test
    void validate_missingOrBadFile_exitsWith1() throws IOException {
        assertEquals(1, execute(new ValidateCommand(), folder.resolve("missing.csv")));
        assertEquals(1, execute(new ValidateCommand(), csv));
        assertTrue(err.toString().contains("column 'offset'"), err::toString);
        assertEquals(2, execute(new ValidateCommand()));
    }
}
