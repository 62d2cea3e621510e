package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PlanCommandTest extends CommandTest {

    private Path csv;
    private Path model;

    @BeforeEach
    void write() throws IOException {
        csv = Files.writeString(folder.resolve("paper.csv"), PAPER);
        model = folder.resolve("model.tflite");
        TfLiteWriter.write(network(), model);
    }

    /** A convolution, an in-place chain of two, a convolution; each tensor has 64 bytes. */
    private static TfLiteFile network() {
        NetworkBuilder network = new NetworkBuilder("chain", 1);
        LayerOutput x = network.input("in", 1, 4, 4, 1);
        x = network.conv2d(x, 1, 1, 1, Activation.NONE);
        x = network.unary("TANH", network.unary("RELU", x));
        return network.output(network.conv2d(x, 1, 1, 1, Activation.NONE)).build();
    }

    private int run(Object... arguments) {
        return execute(new PlanCommand(), arguments);
    }

    private static JsonObject result(JsonObject json, String strategy) {
        return results(json).stream()
                .filter(result -> result.get("strategy").getAsString().equals(strategy))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void plan_sizesKnownAtAnOperator_planInRounds() throws IOException {
        // Operator 5 resolves the sizes of the last three.
        String known =
                PAPER.replace("size", "size,known")
                        .replaceAll("(?m)(^[0-4],.*)$", "$1,")
                        .replaceAll("(?m)(^[5-7],.*)$", "$1,5");
        Path file = Files.writeString(folder.resolve("known.csv"), known);
        Path out = folder.resolve("plan.csv");
        assertEquals(0, run("--json", "--out", out, file));
        JsonObject json = json();
        assertEquals(1, results(json).size());
        assertEquals("rounds", json.getAsJsonObject("best").get("strategy").getAsString());
        assertEquals(152, json.getAsJsonObject("best").get("totalBytes").getAsLong());
        assertEquals(124, json.get("lowerBoundBytes").getAsLong());
        assertEquals(0, execute(new ValidateCommand(), out));
    }

    @Test
    void plan_csvAsJson_hasThePapersFigures() {
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
        assertTrue(best.get("provedMinimal").getAsBoolean());
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
    void plan_oneStrategyOrBest_listsOnlyThat() {
        assertEquals(0, run("--json", "--strategy", "greedy-by-breadth", csv));
        assertEquals(List.of("greedy-by-breadth"), strategies(json()));
        out.getBuffer().setLength(0);
        assertEquals(0, run("--json", "--strategy", "best", csv));
        assertEquals(List.of("greedy-by-size"), strategies(json()));
    }

    @Test
    void plan_csvAsJson_hasSharedObjectsAndOffsets() {
        assertEquals(0, run("--json", csv));
        JsonObject improved = result(json(), "shared-greedy-by-size-improved");
        assertEquals("shared-objects", improved.get("layout").getAsString());
        assertEquals(128, improved.get("totalBytes").getAsLong());
        assertTrue(improved.get("valid").getAsBoolean());
        assertEquals(130, result(json(), "shared-greedy-in-order").get("totalBytes").getAsLong());
        JsonObject best = json().getAsJsonObject("bestSharedObjects");
        assertEquals("shared-greedy-by-size-improved", best.get("strategy").getAsString());
        assertEquals("shared-objects", best.get("layout").getAsString());
        assertTrue(best.get("provedMinimal").getAsBoolean());
        assertEquals("offsets", json().getAsJsonObject("best").get("layout").getAsString());
    }

    @Test
    void plan_oneSharedObjectsStrategy_listsOnlyThat() {
        assertEquals(0, run("--json", "--strategy", "shared-greedy-in-order", csv));
        assertEquals(List.of("shared-greedy-in-order"), strategies(json()));
        assertEquals("shared-objects", json().getAsJsonObject("best").get("layout").getAsString());
        assertEquals(json().getAsJsonObject("best"), json().getAsJsonObject("bestSharedObjects"));
        assertFalse(json().getAsJsonObject("best").get("provedMinimal").getAsBoolean());
    }

    @Test
    void plan_oneOffsetStrategy_hasNoSharedObjects() {
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
        assertFalse(json().getAsJsonObject("best").get("provedMinimal").getAsBoolean());
    }

    @Test
    void plan_asText_namesViewAndBest() {
        assertEquals(0, run(csv));
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
    void plan_outOverAFile_replacesItAsAWhole() throws IOException {
        Path plan = Files.writeString(folder.resolve("plan.csv"), "an earlier plan");
        Path sameFile = Files.createLink(folder.resolve("link.csv"), plan);
        assertEquals(0, run("--out", plan, csv));
        assertEquals("an earlier plan", Files.readString(sameFile), "it was written over");
        assertEquals(0, execute(new ValidateCommand(), plan));
        assertEquals(1, run("--out", folder.resolve("no/plan.csv"), csv));
        assertTrue(err.toString().contains("no such folder: " + folder.resolve("no")));
    }

    @Test
    void plan_out_isAPlanThatValidates() throws IOException {
        Path plan = folder.resolve("plan.csv");
        assertEquals(0, run("--out", plan, model));
        assertEquals(
                List.of(
                        "id,lower,upper,size,offset,alias",
                        "3,0,2,64,0,",
                        "4,1,3,64,0,3",
                        "5,2,4,64,0,3"),
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
        assertEquals(2, run("--parallel", "zoo:lenet"));
        assertEquals(2, run("--parallel", csv));
        assertTrue(err.toString().contains("--parallel needs a graph"), err::toString);
        assertEquals(2, run("--capacity", -1, csv));
        assertEquals(2, run(folder.resolve("model.h5")));
        assertEquals(2, run());
    }

    @Test
    void plan_missingOrBadFile_exitsWith1() throws IOException {
        assertEquals(1, run(folder.resolve("missing.csv")));
        assertEquals(1, run(folder.resolve("missing.tflite")));
        assertTrue(
                err.toString().contains("there is no such file: " + folder.resolve("missing.csv")),
                err::toString);
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
