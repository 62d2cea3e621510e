package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.study.parallel.BranchyGraphs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests {@code djlplan plan --parallel}, for graphs whose branches may run at once. */
class PlanCommandParallelTest extends CommandTest {

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

    @Test
    void plan_parallel_printsTheCost() {
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
