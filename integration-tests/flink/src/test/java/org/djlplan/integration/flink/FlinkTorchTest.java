package org.djlplan.integration.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple3;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests a PyTorch network, with DJL and the engine in the cluster's class path. */
@Tag("pytorch")
class FlinkTorchTest extends JobTests {

    @BeforeAll
    static void save() throws Exception {
        try (Model network = Model.newInstance(NetworkRows.NAME, "PyTorch")) {
            network.setBlock(NetworkRows.network());
            network.getBlock()
                    .initialize(network.getNDManager(), DataType.FLOAT32, new Shape(1, 3, 64, 64));
            network.save(model, NetworkRows.NAME);
        }
    }

    private static JobJar job() throws Exception {
        return new JobJar()
                .with(NetworkRows.class, Class.forName(NetworkRows.class.getName() + "$Bits"));
    }

    /** Runs the network, and returns every row's bits. */
    private static Map<Long, Integer> bits(Path jar, boolean planned) throws Exception {
        List<Tuple3<Long, Integer, Long>> rows = run(numbers(jar).map(new NetworkRows(planned)));
        assertEquals(ROWS, rows.size());
        Map<Long, Integer> bits = new HashMap<>();
        rows.forEach(row -> bits.put(row.f0, row.f1));
        long most = rows.stream().mapToLong(row -> row.f2).max().orElseThrow();
        assertTrue(planned ? most > ROWS / 2 : most == 0, rows::toString);
        return bits;
    }

    private static void assertSameBitsAndCollected(Path jar) throws Exception {
        Map<Long, Integer> stock = bits(jar, false);
        submit(
                () -> bits(jar, false),
                () -> {
                    assertEquals(stock, bits(jar, true));
                    return jar;
                });
    }

    @Test
    void job_submittedThreeTimes_bitsOfStockAndLoadersAreCollected() throws Exception {
        assertSameBitsAndCollected(job().writeTo(folder.resolve("thin.jar")));
    }

    @Test
    void jobWithPlan_submittedThreeTimes_bitsOfStockAndLoadersAreCollected() throws Exception {
        assertSameBitsAndCollected(job().withPlan().writeTo(folder.resolve("with-plan.jar")));
    }
}
