package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoublePredicate;
import java.util.stream.IntStream;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests delegation measured in a child JVM, which loads the library of djl-plan's TFLite engine.
 */
@Tag("djl-current")
@Tag("long")
class CurrentDelegationTest {

    @TempDir Path folder;

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }

    private static Map<String, Object> options(String profile) {
        return Map.of(
                "delegation.profile",
                profile.equals("off") ? profile : profile + ":1s",
                "memplan.threads",
                "1");
    }

    /**
     * Delegating everything takes least memory with buffers for each prediction, and most with
     * permanent buffers.
     */
    @Test
    void load_memoryCounts_buildsBuffersForEachPrediction() throws Exception {
        Path file = Files.copy(TestModels.built("large_images"), folder.resolve("model.tflite"));
        for (String profile : List.of("blocking", "off")) {
            Map<String, Object> options = new HashMap<>(options(profile));
            options.put("delegation.objective", "memory");
            try (ZooModel<NDList, NDList> model = Planned.load(file, options);
                    StockInterpreter stock = new StockInterpreter(file, 1)) {
                String text = report(model).toString();
                assertEquals(
                        profile.equals("off") ? Origin.STORED : Origin.MEASURED,
                        report(model).origin());
                assertTrue(report(model).delegatedOperators() > 0, text);
                assertTrue(text.contains(", buffers built for each prediction: "), text);
                List<ByteBuffer> inputs = stock.randomInputs(1);
                Tolerance.assertWithin(
                        stock.run(inputs), Planned.predict(model, inputs, stock.shapes()), text);
            }
        }
    }

    /** Returns random inputs multiplied by a number. */
    private static List<ByteBuffer> inputs(StockInterpreter stock, float factor) {
        List<ByteBuffer> inputs = stock.randomInputs(1);
        for (ByteBuffer input : inputs) {
            for (int i = 0; i < input.capacity(); i += Float.BYTES) {
                input.putFloat(i, input.getFloat(i) * factor);
            }
        }
        return inputs;
    }

    private static boolean isAll(DoublePredicate condition, List<ByteBuffer> outputs) {
        return outputs.stream()
                .map(output -> output.order(ByteOrder.nativeOrder()).asFloatBuffer())
                .allMatch(
                        floats ->
                                IntStream.range(0, floats.limit())
                                        .mapToDouble(floats::get)
                                        .allMatch(condition));
    }

    /** The CPU kernels of some rectifiers turn a NaN into a number, and XNNPACK does not. */
    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @ValueSource(strings = {"face_landmark", "palm_detection_lite"})
    void predict_publishedNetwork_agreesExceptForNan(String name) throws Exception {
        Path file = Files.copy(RealModels.TFLITE.file(name), folder.resolve("model.tflite"));
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("blocking"));
                StockInterpreter stock = new StockInterpreter(file, 1)) {
            String text = report(model).toString();
            for (float factor : new float[] {0, -1, 255}) {
                List<ByteBuffer> inputs = inputs(stock, factor);
                Tolerance.assertWithin(
                        stock.run(inputs), Planned.predict(model, inputs, stock.shapes()), text);
            }
            List<ByteBuffer> inputs = inputs(stock, 1);
            inputs.get(0).putFloat(inputs.get(0).capacity() / 2, Float.NaN);
            assertTrue(isAll(Double::isFinite, stock.run(inputs)), text);
            assertTrue(isAll(Double::isNaN, Planned.predict(model, inputs, stock.shapes())), text);
        }
    }
}
