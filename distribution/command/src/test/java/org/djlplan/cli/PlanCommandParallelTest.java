package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests {@code djlplan plan --parallel}, for graphs whose branches may run at once. */
class PlanCommandParallelTest extends CommandTest {

    private Path model;

    /** Writes three branches of three operators each; their tensors have 64 bytes. */
    @BeforeEach
    void write() throws IOException {
        NetworkBuilder network = new NetworkBuilder("branches", 1);
        LayerOutput input = network.input("in", 1, 4, 4, 1);
        LayerOutput[] ends = new LayerOutput[3];
        for (int i = 0; i < ends.length; i++) {
            ends[i] = input;
            for (int j = 0; j < 3; j++) {
                ends[i] = network.conv2d(ends[i], 1, 1, 1, Activation.NONE);
            }
        }
        model = folder.resolve("model.tflite");
        TfLiteWriter.write(network.output(network.concat(3, ends)).build(), model);
    }

    @Test
    void plan_parallel_printsTheCost() {
        assertEquals(0, execute(new PlanCommand(), "--json", "--parallel", model));
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
        assertEquals(0, execute(new PlanCommand(), "--parallel", model));
        assertTrue(
                out.toString()
                        .contains(
                                "branches at once: greedy-by-size-over-conflicts, 384 bytes, at"
                                        + " the lower bound, 1.500 times as much"),
                out::toString);
    }

    @Test
    void plan_parallel_writesAndLimitsThatPlan() {
        Path plan = folder.resolve("plan.csv");
        Object[] line = {"--parallel", "--capacity", 383, "--out", plan, model};
        assertEquals(1, execute(new PlanCommand(), line));
        assertEquals(0, execute(new ValidateCommand(), plan));
        assertTrue(out.toString().contains("valid: 9 records in 384 bytes"), out::toString);
        line[2] = 384;
        assertEquals(0, execute(new PlanCommand(), line));
    }
}
