package org.djlplan.integration.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import com.google.common.collect.ImmutableList;
import com.google.common.util.concurrent.internal.InternalFutureFailureAccess;
import com.google.flatbuffers.Table;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple3;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A network of PyTorch, with DJL and the engine in the cluster's class path. */
@Tag("pipelines")
@Tag("pytorch")
class FlinkTorchTest {

    private static final int SUBMISSIONS = 3;
    private static final long ROWS = 60;

    @TempDir static Path folder;

    private static JobCluster cluster;
    private static Path model;

    @BeforeAll
    static void start() throws Exception {
        model = Files.createDirectory(folder.resolve("model"));
        try (Model network = Model.newInstance(NetworkRows.NAME, "PyTorch")) {
            network.setBlock(NetworkRows.network());
            network.getBlock()
                    .initialize(network.getNDManager(), DataType.FLOAT32, new Shape(1, 3, 64, 64));
            network.save(model, NetworkRows.NAME);
        }
        cluster = new JobCluster();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void forget() {
        UserCode.forget();
    }

    private static JobJar job() throws Exception {
        return new JobJar()
                .with(NetworkRows.class, Class.forName(NetworkRows.class.getName() + "$Bits"));
    }

    /** Every row's bits. */
    private static Map<Long, Integer> run(Path jar, boolean planned) throws Exception {
        List<Tuple3<Long, Integer, Long>> rows =
                cluster.environment(jar, model)
                        .fromSequence(0, ROWS - 1)
                        .map(new NetworkRows(planned))
                        // One more than there are to be: the job runs to its end.
                        .executeAndCollect((int) ROWS + 1);
        assertEquals(ROWS, rows.size());
        Map<Long, Integer> bits = new HashMap<>();
        rows.forEach(row -> bits.put(row.f0, row.f1));
        long most = rows.stream().mapToLong(row -> row.f2).max().orElseThrow();
        // The first ones are recorded, and those beside them run as stock.
        assertTrue(planned ? most > ROWS / 2 : most == 0, rows::toString);
        return bits;
    }

    private static void assertSameBitsAndCollected(Path jar) throws Exception {
        UserCode.warm(() -> run(jar, false));
        Map<Long, Integer> stock = run(jar, false);
        UserCode.forget();
        for (int i = 0; i < SUBMISSIONS; i++) {
            assertEquals(stock, run(jar, true));
        }
        assertEquals(SUBMISSIONS, UserCode.count(), "jobs without a loader of their own");
        UserCode.assertCollected();
    }

    @Test
    void job_submittedThreeTimes_bitsOfStockAndNoLoaderIsKept() throws Exception {
        assertSameBitsAndCollected(job().writeTo(folder.resolve("thin.jar")));
    }

    @Test
    void jobWithPlan_submittedThreeTimes_bitsOfStockAndNoLoaderIsKept() throws Exception {
        JobJar jar = job();
        for (Class<?> each :
                List.of(
                        PlannedTranslatorFactory.class,
                        ImmutableList.class,
                        InternalFutureFailureAccess.class,
                        Table.class)) {
            jar.withAll(each);
        }
        assertSameBitsAndCollected(jar.writeTo(folder.resolve("with-plan.jar")));
    }
}
