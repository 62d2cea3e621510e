package org.djlplan.memplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.study.csv.CsvFiles;
import org.djlplan.memplan.study.parallel.BranchyGraphs;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the plan command tells of graphs whose operators may run in other orders, or at once. */
class PlanCommandOrdersTest extends CommandTest {

    private Path model;

    @BeforeEach
    void write() throws IOException {
        model = Files.writeString(folder.resolve("model.tflite"), "read by the test's own reader");
    }

    private int run(Graph graph, Object... arguments) {
        PlanInput.GraphSource source =
                new PlanInput.GraphSource(file -> graph, file -> graph, (block, inputs) -> graph);
        return execute(new PlanCommand(source), arguments);
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

    @Test
    void plan_reorderAsJson_tellsBothOrders() {
        assertEquals(0, run(branches(), "--reorder", "--json", model));
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
        assertEquals(0, run(branches(), "--reorder", model));
        assertTrue(out.toString().contains("1,088                640"), out.toString());
        assertTrue(out.toString().contains("proved: no order"), out.toString());
    }

    @Test
    void plan_reorderAndParallel_tellsBothAndWritesTheParallelPlan() throws IOException {
        Path plan = folder.resolve("plan.csv");
        assertEquals(0, run(branches(), "--reorder", "--parallel", "--json", "--out", plan, model));
        JsonObject json = json();
        assertEquals(640, json.getAsJsonObject("order").get("arenaAfterBytes").getAsLong());
        long bytes = json.getAsJsonObject("parallel").get("totalBytes").getAsLong();
        assertEquals(bytes, CsvFiles.readPlan(plan).totalBytes());
    }

    @Test
    void plan_reorderBySharedObjects_laysThemEndToEnd() {
        assertEquals(
                0, run(branches(), "--reorder", "--json", "--strategy", "shared-optimal", model));
        JsonObject json = json();
        assertEquals(List.of("shared-optimal"), strategies(json));
        assertEquals(
                json.getAsJsonObject("best").get("totalBytes"),
                json.getAsJsonObject("order").get("arenaBeforeBytes"));
    }

    @Test
    void plan_parallel_tellsThePrice() {
        assertEquals(0, run(BranchyGraphs.branches(3, 3), "--json", "--parallel", model));
        // The best serial plan keeps the ends of two branches while the third runs.
        assertEquals(256, json().getAsJsonObject("best").get("totalBytes").getAsLong());
        JsonObject price = json().getAsJsonObject("parallel");
        assertEquals("greedy-by-size-over-conflicts", price.get("strategy").getAsString());
        assertEquals(256, price.get("serialBytes").getAsLong());
        assertEquals(384, price.get("totalBytes").getAsLong());
        assertEquals(1.5, price.get("ratio").getAsDouble());
        assertEquals(384, price.get("lowerBoundBytes").getAsLong());
        assertTrue(price.get("provedMinimal").getAsBoolean());
        out.getBuffer().setLength(0);
        assertEquals(0, run(BranchyGraphs.branches(3, 3), "--parallel", model));
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
        assertEquals(
                1,
                run(
                        BranchyGraphs.branches(3, 3),
                        "--parallel",
                        "--capacity",
                        383,
                        "--out",
                        plan,
                        model));
        assertEquals(0, execute(new ValidateCommand(), plan));
        assertTrue(out.toString().contains("valid: 9 records in 384 bytes"), out::toString);
        assertEquals(0, run(BranchyGraphs.branches(3, 3), "--parallel", "--capacity", 384, model));
    }

    @Test
    void plan_parallelOfAnEmptyGraph_costsNothing() {
        Graph empty = new GraphSketch().build();
        assertEquals(0, run(empty, "--json", "--parallel", model));
        assertEquals(1, json().getAsJsonObject("parallel").get("ratio").getAsDouble());
    }
}
