package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a model that gets more input shapes than the number of plans that are kept. */
class ManyShapesTest {

    private static final int SHAPES = 150;

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @Test
    void predict_oneShapeAmongManyOthers_staysPlannedAndRight() throws Exception {
        NetworkBuilder network = new NetworkBuilder("any size", 3);
        LayerOutput x = network.input("image", 1, 8, 8, 3);
        x = network.unary("TANH", network.conv2d(x, 4, 3, 1, Activation.NONE));
        x = network.conv2d(x, 2, 3, 1, Activation.NONE);
        Path file = folder.resolve("any.tflite");
        TfLiteWriter.write(network.output(x).build(), file);
        try (StockInterpreter own = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 2))) {
            for (int i = 0; i < SHAPES; i++) {
                assertSame(own, model);
                try (StockInterpreter other = new StockInterpreter(file, 1)) {
                    other.resize(1, 5 + i % 10, 5 + i / 10, 3);
                    assertSame(other, model);
                }
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(2 * SHAPES, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
            assertTrue(report.interpreters().size() <= 2);
            assertEquals(1, ArenaPool.shared().metric().arenas());
        }
        assertEquals(0, ArenaPool.shared().metric().arenas());
    }

    private static void assertSame(StockInterpreter stock, ZooModel<NDList, NDList> model)
            throws Exception {
        List<ByteBuffer> inputs = stock.randomInputs(1);
        assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
    }
}
