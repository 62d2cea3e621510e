package org.djlplan.memplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.djlplan.memplan.source.csv.CsvFiles;
import org.djlplan.memplan.usage.BranchyGraphs;
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
        return results(json).stream().map(result -> result.get("strategy").getAsString()).toList();
    }

    private static List<JsonObject> results(JsonObject json) {
        List<JsonObject> results = new ArrayList<>();
        json.getAsJsonArray("results").forEach(result -> results.add(result.getAsJsonObject()));
        return results;
    }

    private static JsonObject result(JsonObject json, String strategy) {
        return results(json).stream()
                .filter(result -> result.get("strategy").getAsString().equals(strategy))
                .findFirst()
                .orElseThrow();
    }

    /** Two branches, wide and narrow; both wide operators come first. */
    private static Graph branches() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(16);
        int[] wide = {sketch.tensor(128), sketch.tensor(128)};
        Integer[] narrow = {sketch.tensor(16), sketch.tensor(16)};
        int output = sketch.tensor(32);
        sketch.operator("CONV_2D", wide[0], input).operator("CONV_2D", wide[1], input);
        sketch.operator("CONV_2D", narrow[0], wide[0]).operator("CONV_2D", narrow[1], wide[1]);
        return sketch.operator("CONCATENATION", output, narrow).output(output).build();
    }

    private int reorder(Object... arguments) {
        GraphSource.Reader reader = file -> branches();
        return execute(
                new PlanCommand(new GraphSource(reader, reader, (block, inputs) -> branches())),
                arguments);
    }

    @Test
    void plan_reorderAsJson_tellsBothOrders() {
        assertEquals(0, reorder("--reorder", "--json", model));
        JsonObject order = json().getAsJsonObject("order");
        assertEquals(64 * (8 + 8 + 1), order.get("breadthBeforeBytes").getAsLong());
        assertEquals(64 * (8 + 1 + 1), order.get("breadthAfterBytes").getAsLong());
        assertEquals(64 * (8 + 8 + 1), order.get("arenaBeforeBytes").getAsLong());
        assertEquals(64 * (8 + 1 + 1), order.get("arenaAfterBytes").getAsLong());
        assertTrue(order.get("minimal").getAsBoolean());
        assertEquals("[0,2,1,3,4]", order.get("operators").toString());
        assertEquals(
                order.get("arenaBeforeBytes"), json().getAsJsonObject("best").get("totalBytes"));
    }

    @Test
    void plan_reorder_printsTheEffect() {
        assertEquals(0, reorder("--reorder", model));
        assertTrue(out.toString().contains("1,088                640"), out.toString());
        assertTrue(out.toString().contains("proved: no order"), out.toString());
    }

    @Test
    void plan_reorderAndParallel_tellsBothAndWritesTheParallelPlan() throws IOException {
        Path plan = folder.resolve("plan.csv");
        assertEquals(0, reorder("--reorder", "--parallel", "--json", "--out", plan, model));
        JsonObject json = json();
        assertEquals(640, json.getAsJsonObject("order").get("arenaAfterBytes").getAsLong());
        long bytes = json.getAsJsonObject("parallel").get("totalBytes").getAsLong();
        assertEquals(bytes, CsvFiles.readPlan(plan).totalBytes());
    }

    @Test
    void plan_reorderBySharedObjects_laysThemEndToEnd() {
        assertEquals(0, reorder("--reorder", "--json", "--strategy", "shared-optimal", model));
        JsonObject json = json();
        assertEquals(List.of("shared-optimal"), strategies(json));
        assertEquals(
                json.getAsJsonObject("best").get("totalBytes"),
                json.getAsJsonObject("order").get("arenaBeforeBytes"));
    }

    @Test
    void plan_reorderOfRecords_isWrongUsage() {
        assertEquals(2, run("--reorder", csv));
        assertTrue(err.toString().contains("--reorder needs a model"), err.toString());
    }

    @Test
    void plan_csvAsJson_tellsThePapersFigures() {
        assertEquals(0, run("--json", csv));
        JsonObject json = json();
        assertEquals(8, json.get("records").getAsInt());
        assertEquals("csv", json.get("view").getAsString());
        assertEquals(234, json.get("naiveBytes").getAsLong());
        assertEquals(124, json.get("lowerBoundBytes").getAsLong());
        assertEquals(124, json.get("aliasedLowerBoundBytes").getAsLong());
        assertEquals(128, json.get("sharedObjectsLowerBoundBytes").getAsLong());
        JsonObject naive = result(json, "naive");
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
        List<String> plain =
                strategies(json).stream().filter(name -> !name.endsWith("+in-place")).toList();
        assertTrue(plain.containsAll(List.of("greedy-by-size", "shared-optimal")));
        assertEquals(2 * plain.size(), strategies(json).size());
        for (String name : plain) {
            assertTrue(strategies(json).contains(name + "+in-place"), name);
        }
        assertEquals(128, json.get("lowerBoundBytes").getAsLong());
        assertEquals(64, json.get("aliasedLowerBoundBytes").getAsLong());
        assertFalse(json.has("parallel"));
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

    private int runBranches(Object... arguments) {
        Graph graph = BranchyGraphs.branches(3, 3);
        return execute(
                new PlanCommand(
                        new GraphSource(file -> graph, file -> graph, (block, inputs) -> graph)),
                arguments);
    }

    @Test
    void plan_parallel_tellsThePrice() {
        assertEquals(0, runBranches("--json", "--parallel", model));
        // The best serial plan keeps the ends of two branches while the third runs.
        assertEquals(256, json().getAsJsonObject("best").get("totalBytes").getAsLong());
        JsonObject price = json().getAsJsonObject("parallel");
        assertEquals("greedy-by-size-over-conflicts", price.get("strategy").getAsString());
        assertEquals(256, price.get("serialBytes").getAsLong());
        assertEquals(384, price.get("totalBytes").getAsLong());
        assertEquals(1.5, price.get("ratio").getAsDouble());
        assertEquals(384, price.get("lowerBoundBytes").getAsLong());
        assertTrue(price.get("provedOptimal").getAsBoolean());
        out.getBuffer().setLength(0);
        assertEquals(0, runBranches("--parallel", model));
        assertTrue(
                out.toString()
                        .contains(
                                "branches at once: greedy-by-size-over-conflicts, 384 bytes, at"
                                        + " the lower bound, 1.500 times as much"),
                out::toString);
    }

    @Test
    void plan_parallel_writesAndLimitsThatPlan() throws IOException {
        Path plan = folder.resolve("plan.csv");
        assertEquals(1, runBranches("--parallel", "--capacity", 383, "--out", plan, model));
        assertEquals(0, execute(new ValidateCommand(), plan));
        assertTrue(out.toString().contains("valid: 9 records in 384 bytes"), out::toString);
        assertEquals(0, runBranches("--parallel", "--capacity", 384, model));
    }

    @Test
    void plan_parallelOfAnEmptyGraph_costsNothing() {
        Graph empty = new GraphSketch().build();
        GraphSource source = new GraphSource(f -> empty, f -> empty, (block, inputs) -> empty);
        assertEquals(0, execute(new PlanCommand(source), "--json", "--parallel", model));
        assertEquals(1, json().getAsJsonObject("parallel").get("ratio").getAsDouble());
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
    void plan_csvAsJson_tellsSharedObjectsBesidesOffsets() {
        assertEquals(0, run("--json", csv));
        JsonObject improved = result(json(), "shared-greedy-by-size-improved");
        assertEquals("shared-objects", improved.get("layout").getAsString());
        assertEquals(128, improved.get("totalBytes").getAsLong());
        assertTrue(improved.get("valid").getAsBoolean());
        JsonObject endToEnd = result(json(), "shared-greedy-in-order-end-to-end");
        assertEquals("offsets", endToEnd.get("layout").getAsString());
        assertEquals(130, endToEnd.get("totalBytes").getAsLong());
        JsonObject best = json().getAsJsonObject("bestSharedObjects");
        assertEquals("shared-greedy-by-size-improved", best.get("strategy").getAsString());
        assertEquals("shared-objects", best.get("layout").getAsString());
        assertTrue(best.get("provedOptimal").getAsBoolean());
        assertEquals("offsets", json().getAsJsonObject("best").get("layout").getAsString());
    }

    @Test
    void plan_oneSharedObjectsStrategy_listsOnlyThat() {
        assertEquals(0, run("--json", "--strategy", "shared-greedy-in-order", csv));
        assertEquals(List.of("shared-greedy-in-order"), strategies(json()));
        assertEquals("shared-objects", json().getAsJsonObject("best").get("layout").getAsString());
        assertEquals(json().getAsJsonObject("best"), json().getAsJsonObject("bestSharedObjects"));
        assertFalse(json().getAsJsonObject("best").get("provedOptimal").getAsBoolean());
    }

    @Test
    void plan_oneOffsetStrategy_tellsNoSharedObjects() {
        assertEquals(0, run("--json", "--strategy", "greedy-by-size", csv));
        assertFalse(json().has("bestSharedObjects"));
        assertEquals(128, json().get("sharedObjectsLowerBoundBytes").getAsLong());
    }

    @Test
    void plan_outOfASharedObjectsStrategy_isLaidEndToEnd() {
        Path plan = folder.resolve("plan.csv");
        assertEquals(0, run("--strategy", "shared-optimal", "--out", plan, csv));
        out.getBuffer().setLength(0);
        assertEquals(0, execute(new ValidateCommand(), plan));
        assertEquals("valid: 8 records in 128 bytes", out.toString().strip());
        assertEquals(1, run("--strategy", "shared-optimal", "--capacity", 127, csv));
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
                out.toString().contains("best: greedy-by-size, 124 bytes, proved minimal"),
                out::toString);
        assertTrue(
                out.toString()
                        .contains(
                                "best shared objects: shared-greedy-by-size-improved, 128 bytes,"
                                        + " proved optimal"),
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
        assertEquals(2, run("--strategy", "shared-optimum", csv));
        assertTrue(err.toString().contains("did you mean 'shared-optimal'?"), err::toString);
        assertEquals(2, run("--live", csv));
        assertEquals(2, run("--parallel", csv));
        assertTrue(err.toString().contains("--parallel needs a graph"), err::toString);
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
