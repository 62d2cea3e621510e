package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.metrics.PoolMetrics;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the meters of a service's models during predictions. */
class MetricsTest {

    private static final Path MODEL = TestModels.built("chains");

    @TempDir Path folder;

    private static void predict(ZooModel<NDList, NDList> model, int times) throws Exception {
        predict(model, MODEL, times);
    }

    private static void predict(ZooModel<NDList, NDList> model, Path file, int times)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            for (int i = 0; i < times; i++) {
                Planned.predict(model, stock.randomInputs(i), stock.shapes());
            }
        }
    }

    private static long gauge(MeterRegistry registry, String name, String... tags) {
        return (long) registry.get(name).tags(tags).gauge().value();
    }

    @Test
    void bindTo_modelUnreachable_modelIsCollected() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<NDList, NDList> model = Planned.load(MODEL, Map.of())) {
            new PlanMetrics(model, "a").bindTo(registry);
        }
        Freed.assertEverythingIsCollected();
        assertTrue(Double.isNaN(registry.get("djlplan.arena.bytes").gauge().value()));
        try (ZooModel<NDList, NDList> next = Planned.load(MODEL, Map.of())) {
            new PlanMetrics(next, "a").bindTo(registry);
            assertTrue(gauge(registry, "djlplan.arena.bytes") > 0, "the next model's instead");
        }
    }

    @Test
    void bindTo_delegation_onlyThePresentOriginHasOperators() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<NDList, NDList> model =
                Planned.load(MODEL, Map.of("delegation.profile", "blocking"))) {
            new PlanMetrics(model).bindTo(registry);
            PlanReport report = PlanReport.of(model).orElseThrow();
            DelegationReport.Origin origin = report.delegation().orElseThrow().origin();
            long sum = 0;
            for (DelegationReport.Origin each : DelegationReport.Origin.values()) {
                sum += gauge(registry, "djlplan.delegation", "origin", each.name());
            }
            assertEquals(report.delegation().orElseThrow().delegatedOperators(), sum);
            assertEquals(sum, gauge(registry, "djlplan.delegation", "origin", origin.name()));
        }
    }

    private static double interpreterWaits(MeterRegistry registry) {
        return registry.get("djlplan.wait").tag("cause", "INTERPRETERS").functionTimer().count();
    }

    @Test
    void bindTo_sharedModel_hasOneId() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(MODEL)
                        .optEngine("TFLite")
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.builder()
                                        .optDelegationEnabled(false)
                                        .build())
                        .build();
        try (ZooModel<NDList, NDList> one = PlannedModels.acquire("meters", criteria);
                ZooModel<NDList, NDList> two = PlannedModels.acquire("meters", criteria)) {
            new PlanMetrics(one).bindTo(registry);
            new PlanMetrics(two).bindTo(registry);
            assertEquals(1, registry.get("djlplan.arena.bytes").gauges().size());
        }
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
    }

    @Test
    void bindTo_budget_isMeteredWithItsLeast() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<NDList, NDList> model =
                Planned.load(MODEL, Map.of("memplan.budget", "auto"))) {
            new PlanMetrics(model).bindTo(registry);
            PlanHandle.of(model).orElseThrow().setBudget("64MB");
            assertEquals(64_000_000, gauge(registry, "djlplan.budget.bytes"));
            long least = gauge(registry, "djlplan.budget.least.bytes");
            assertTrue(least > 0 && least < 64_000_000, least + " bytes");
            assertEquals(0, gauge(registry, "djlplan.budget.loaded.bytes"));
            assertEquals(0, gauge(registry, "djlplan.budget.stall.seconds"));
        }
    }

    @Test
    void pools_predictionsWait_areCounted() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        new PoolMetrics().bindTo(registry);
        double before = interpreterWaits(registry);
        try (ZooModel<NDList, NDList> model = Planned.load(MODEL, Map.of("memplan.workers", "1"))) {
            predictAtOnce(model, MODEL, 4, 50);
            assertTrue(interpreterWaits(registry) > before);
            assertTrue(PlannedModels.pools().waits().nanos() > 0);
        }
    }

    private static void predictAtOnce(
            ZooModel<NDList, NDList> model, Path file, int threads, int times) throws Exception {
        Threads.all(
                threads,
                thread -> {
                    predict(model, file, times);
                    return true;
                });
    }

    @Test
    void flightRecorder_delegatedModel_recordsServingChoice() throws Exception {
        Path file = folder.resolve("flight.jfr");
        PlanReport report;
        try (Recording recording = new Recording()) {
            recording.enable("djlplan.Delegation");
            recording.start();
            try (ZooModel<NDList, NDList> model =
                    Planned.load(MODEL, Map.of("delegation.profile", "blocking"))) {
                predict(model, 1);
                report = PlanReport.of(model).orElseThrow();
            }
            recording.stop();
            recording.dump(file);
        }
        RecordedEvent last =
                RecordingFile.readAllEvents(file).stream()
                        .filter(e -> e.getEventType().getName().equals("djlplan.Delegation"))
                        .filter(e -> e.getString("file").equals(MODEL.getFileName().toString()))
                        .reduce((a, b) -> b)
                        .orElseThrow();
        DelegationReport serving = report.delegation().orElseThrow();
        assertEquals(serving.delegatedOperators(), last.getInt("delegatedOperators"));
        assertEquals(serving.operators(), last.getInt("operators"));
        assertEquals(serving.origin().name(), last.getString("origin"));
    }

    /** Four predictions run at once on one worker, so some wait longer than a pass takes. */
    @Test
    void flightRecorder_predictionsWait_recordsResource() throws Exception {
        Path file = folder.resolve("flight.jfr");
        Path slow = TestModels.built("mobilenet_v1");
        try (Recording recording = new Recording();
                ZooModel<NDList, NDList> model =
                        Planned.load(slow, Map.of("memplan.workers", "1"))) {
            recording.enable("djlplan.Wait");
            recording.start();
            predictAtOnce(model, slow, 4, 2);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> waits =
                RecordingFile.readAllEvents(file).stream()
                        .filter(e -> e.getEventType().getName().equals("djlplan.Wait"))
                        .toList();
        assertFalse(waits.isEmpty());
        for (RecordedEvent wait : waits) {
            assertEquals("WORKERS", wait.getString("lack"));
            assertTrue(wait.getDuration("time").toNanos() >= 1_000_000);
        }
    }
}
