package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
