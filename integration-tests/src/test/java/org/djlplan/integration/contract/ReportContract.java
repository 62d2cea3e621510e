package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.metrics.PoolMetrics;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports, meters and events show what predictions did. */
interface ReportContract extends Contract {

    private ModelCase first(Path folder) throws Exception {
        return engine().models(folder).get(0);
    }

    private static void predict(ModelCase each, ZooModel<NDList, NDList> model, int times)
            throws Exception {
        for (int i = 0; i < times; i++) {
            List<ByteBuffer> unused = each.predict(model, 0);
        }
    }

    private static long gauge(MeterRegistry registry, String name, String... tags) {
        return (long) registry.get(name).tags(tags).gauge().value();
    }

    private double predictions(MeterRegistry registry, String id, boolean planned) {
        return registry.get("djlplan.predictions")
                .tags("engine", engine().engine(), "id", id, "planned", "" + planned)
                .functionCounter()
                .count();
    }

    @Test
    default void meters_ofModels_followEachOne(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        MeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<NDList, NDList> one = each.load();
                ZooModel<NDList, NDList> two = each.load();
                ZooModel<NDList, NDList> stock = each.loadStock()) {
            new PlanMetrics(stock).bindTo(registry);
            assertTrue(registry.getMeters().isEmpty(), "a stock model has no meters");
            new PlanMetrics(one, "blue").bindTo(registry);
            new PlanMetrics(two, "green").bindTo(registry);
            predict(each, two, 3);
            assertEquals(0, predictions(registry, "blue", true));
            assertEquals(3, predictions(registry, "green", true));
            assertEquals(0, predictions(registry, "green", false));
            PlanReport.Plan plan = PlanReport.of(two).orElseThrow().plan();
            assertTrue(plan.arenaBytes() > 0);
            assertEquals(plan.arenaBytes(), gauge(registry, "djlplan.arena.bytes", "id", "green"));
            assertEquals(
                    PlanReport.of(two).orElseThrow().peak().orElseThrow().predictionBytes(),
                    gauge(registry, "djlplan.peak.bytes", "id", "green"));
            assertTrue(gauge(registry, "djlplan.peak.process.bytes", "id", "green") > 1e6);
            assertTrue(registry.find("djlplan.delegation").gauges().isEmpty());
            new PlanMetrics(two, "blue").bindTo(registry);
            assertEquals(3, predictions(registry, "blue", true), "of the model bound last");
        }
    }

    @Test
    default void meters_ofPools_equalTheReport(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        MeterRegistry registry = new SimpleMeterRegistry();
        new PoolMetrics().bindTo(registry);
        try (ZooModel<NDList, NDList> model = each.load(Map.of("memplan.workers", 1))) {
            Threads.all(
                    4,
                    thread -> {
                        engine().prepareThread();
                        predict(each, model, 20);
                        return true;
                    });
            assertTrue(gauge(registry, "djlplan.arenas") > 0);
            assertEquals(
                    PlannedModels.pools().arenas().bytes(),
                    gauge(registry, "djlplan.arenas.bytes"));
            assertEquals(0, gauge(registry, "djlplan.workers.busy"));
            assertEquals(0, gauge(registry, "djlplan.workers.waiting"));
        }
    }

    @Test
    default void flightRecorder_recording_hasPredictions(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        Path file = folder.resolve("flight.jfr");
        String name;
        try (ZooModel<NDList, NDList> model = each.load();
                Recording recording = new Recording()) {
            name = model.getName();
            recording.enable("djlplan.Prediction").withThreshold(Duration.ZERO);
            predict(each, model, 1);
            recording.start();
            predict(each, model, 3);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events =
                RecordingFile.readAllEvents(file).stream()
                        .filter(e -> e.getEventType().getName().equals("djlplan.Prediction"))
                        .toList();
        assertEquals(3, events.size());
        for (RecordedEvent event : events) {
            assertEquals(name, event.getString("model"));
            assertEquals(engine().engine(), event.getString("engine"));
            assertFalse(event.getDuration().isZero());
        }
    }

    @Test
    default void toJson_plannedModel_hasItsFigures(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        try (ZooModel<NDList, NDList> model = each.load()) {
            predict(each, model, 2);
            PlanReport report = PlanReport.of(model).orElseThrow();
            JsonObject json = JsonParser.parseString(report.toJson()).getAsJsonObject();
            assertEquals(engine().engine(), json.get("engine").getAsString());
            JsonObject plan = json.getAsJsonObject("plan");
            assertEquals(report.plan().arenaBytes(), plan.get("arenaBytes").getAsLong());
            assertEquals(2, json.getAsJsonObject("predictions").get("total").getAsLong());
            assertFalse(json.has("budget"), json.toString());
        }
    }

    @Test
    default void setMetrics_everyPrediction_addsTheReportsFigures(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        Metrics metrics = new Metrics();
        try (ZooModel<NDList, NDList> model = each.load();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            predictor.setMetrics(metrics);
            for (int i = 0; i < 3; i++) {
                List<ByteBuffer> unused = each.predict(predictor, 0);
            }
            PlanReport.Plan plan = PlanReport.of(model).orElseThrow().plan();
            Map<String, Long> figures =
                    Map.of(
                            "ArenaBytes",
                            plan.arenaBytes(),
                            "InputOutputBytes",
                            plan.inputOutputBytes(),
                            "UnplannedPredictions",
                            0L);
            figures.forEach(
                    (name, value) -> {
                        assertEquals(3, metrics.getMetric(name).size(), name);
                        assertEquals(
                                value, metrics.latestMetric(name).getValue().longValue(), name);
                    });
            assertEquals(3, metrics.getMetric("Inference").size());
        }
    }

    @Test
    default void memory_afterPredictions_hasPartsThatAddUp(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        try (ZooModel<NDList, NDList> model = each.load()) {
            predict(each, model, 2);
            MemoryReport memory = PlanHandle.of(model).orElseThrow().memory().orElseThrow();
            assertTrue(memory.arenasBytes() > 0, memory.toString());
            assertTrue(memory.heapBytes() > 0 && memory.jvmBytes() > 0, memory.toString());
            assertTrue(memory.weightsBytes() >= 0 && memory.kernelsBytes() >= 0, memory.toString());
            assertEquals(
                    memory.residentBytes(),
                    memory.heapBytes()
                            + memory.jvmBytes()
                            + memory.weightsBytes()
                            + memory.arenasBytes()
                            + memory.kernelsBytes()
                            + memory.engineBytes()
                            + memory.keptBytes()
                            + memory.filesBytes()
                            + memory.restBytes());
        }
    }
}
