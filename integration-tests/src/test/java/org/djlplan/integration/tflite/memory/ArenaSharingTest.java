package org.djlplan.integration.tflite.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.ArenaMetric;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that models that run in turn share one arena, which has the size that the largest model
 * needs.
 */
class ArenaSharingTest {

    private static final long PAGES_BYTES = 2 * 4096;

    @BeforeEach
    void noArenaIsLeftFromOtherTests() {
        StockInterpreter.loadEngine();
        assertEquals(0, ArenaPool.shared().metric().arenas());
    }

    @Test
    void predict_threeModelsInTurn_useOneArenaOfTheLargest() throws Exception {
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        List<StockInterpreter> stock = new ArrayList<>();
        long largest = 0;
        long sum = 0;
        for (String name : List.of("blaze_face", "mobilenet_v1", "mobilenet_v2")) {
            Path file = TestModels.built(name);
            models.add(Planned.load(file, Map.of("memplan.threads", 1)));
            stock.add(new StockInterpreter(file, 1));
            long bytes =
                    PlanReport.of(models.get(models.size() - 1)).orElseThrow().plan().arenaBytes();
            largest = Math.max(largest, bytes);
            sum += bytes;
        }
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < models.size(); i++) {
                List<ByteBuffer> inputs = stock.get(i).randomInputs(round);
                assertEquals(
                        stock.get(i).run(inputs),
                        Planned.predict(models.get(i), inputs, stock.get(i).shapes()));
            }
        }
        ArenaMetric metric = ArenaPool.shared().metric();
        assertEquals(1, metric.arenas());
        assertTrue(metric.arenaBytes() >= largest && metric.arenaBytes() <= largest + PAGES_BYTES);
        assertTrue(metric.arenaBytes() < sum);

        stock.forEach(StockInterpreter::close);
        models.forEach(ZooModel::close);
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
    }

    @Test
    void close_largestModel_shrinksTheArena() throws Exception {
        try (ZooModel<NDList, NDList> small = load("blaze_face", Map.of())) {
            long before;
            try (ZooModel<NDList, NDList> large = load("mobilenet_v2", Map.of())) {
                predictOnce(large, "mobilenet_v2");
                before = ArenaPool.shared().metric().arenaBytes();
            }
            predictOnce(small, "blaze_face");
            assertTrue(ArenaPool.shared().metric().arenaBytes() < before);
        }
    }

    private static ZooModel<NDList, NDList> load(String name, Map<String, ?> arguments)
            throws Exception {
        return Planned.load(TestModels.built(name), arguments);
    }

    private static void predictOnce(ZooModel<NDList, NDList> model, String name) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(TestModels.built(name), -1)) {
            List<ByteBuffer> inputs = stock.randomInputs(5);
            assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
        }
    }
}
