package org.djlplan.integration.tflite.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.planning.order.OrderedModel;
import org.djlplan.memplan.planning.order.Reordering;
import org.djlplan.memplan.runtime.tflite.OutputTensor;
import org.djlplan.memplan.serving.ServedModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever operators change their places: the stock engine's bytes, and a smaller arena. */
class RandomOrdersTest {

    private static final int MODELS = 200;

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @Test
    void run_randomModelsReordered_giveTheStockBytes() throws Exception {
        int adopted = 0;
        for (int seed = 0; seed < MODELS; seed++) {
            RandomModel model = RandomModel.of(seed);
            Path file = model.sketch().write(folder.resolve("random_" + seed + ".tflite"));
            PlanOptions options =
                    Served.alone(
                            "best", seed % 2 == 0 ? InPlace.TRUE : InPlace.FALSE, 1 + seed % 2);
            OrderedModel ordered = new Reordering(folder.resolve("cache")).of(file, options);
            adopted += ordered.reordered() ? 1 : 0;
            compare(ordered, model.inputs(), options);
        }
        assertTrue(adopted > MODELS / 4, adopted + " of " + MODELS);
    }

    private static void compare(OrderedModel ordered, List<Form> forms, PlanOptions options)
            throws Exception {
        Random random = new Random(1);
        List<ByteBuffer> values =
                forms.stream().map(form -> Bits.mild(form.bytes(), random)).toList();
        try (StockInterpreter stock = new StockInterpreter(ordered.original(), options.threads());
                ServedModel runtime = Served.open(ordered, options)) {
            List<ByteBuffer> actual =
                    runtime.run(values, forms.stream().map(Form::shape).toList()).stream()
                            .map(OutputTensor::data)
                            .toList();
            Bits.assertSame(stock.run(values), actual, ordered.toString());
            assertEquals(
                    ordered.reordered()
                            ? ordered.order().orElseThrow().arenaAfterBytes()
                            : ordered.order().orElseThrow().arenaBeforeBytes(),
                    runtime.report().plan().arenaBytes());
        }
    }
}
