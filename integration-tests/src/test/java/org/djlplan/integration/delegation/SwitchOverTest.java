package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the switch from one choice to another while a model is in use. */
class SwitchOverTest {

    private static final int SWITCHES = 20;

    @TempDir Path folder;

    /**
     * If an interpreter is being built in the background when a model is closed, it is freed soon
     * after.
     */
    @AfterEach
    void everythingIsFreed() {
        Freed.assertEverything();
    }

    @Test
    void closedWhileMeasured_inTheBackground_leavesNothing() throws Exception {
        for (int i = 0; i < 3; i++) {
            Path file = ModelCopy.of("uneven", folder);
            ZooModel<NDList, NDList> model =
                    Planned.load(file, Map.of("delegation.profile", "background"));
            if (i > 0) {
                awaitMeasuringProcess();
                // Closes the model at once, and during the measurement.
                Thread.sleep(300L * (i - 1));
            }
            model.close();
            everythingIsFreed();
        }
    }

    private static void awaitMeasuringProcess() {
        Await.until(() -> ProcessHandle.current().children().findAny().isPresent());
    }

    @Test
    void switchTo_whileThreadsPredict_everyAnswerIsRight() throws Exception {
        Path file = TestModels.built("uneven");
        DelegationChoice cpu = choice(Candidate.cpu(1));
        DelegationChoice all =
                choice(new Candidate(FixedChoice.operators(file, Delegates.XNNPACK), 1));
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ServedModel runtime = Served.open(file, cpu)) {
            List<ByteBuffer> values = stock.randomInputs(1);
            List<List<Integer>> shapes = stock.shapes();
            List<ByteBuffer> expected = stock.run(values);
            Callable<Boolean> switches =
                    () -> {
                        for (int i = 0; i < SWITCHES; i++) {
                            runtime.switchTo(i % 2 == 0 ? all : cpu);
                            int delegated = i % 2 == 0 ? all.candidate().operators().size() : 0;
                            assertEquals(delegated, report(runtime).delegatedOperators());
                        }
                        return true;
                    };
            List<Integer> counts =
                    Threads.during(
                            switches,
                            3,
                            thread -> {
                                List<ByteBuffer> outputs = data(runtime.run(values, shapes));
                                Tolerance.assertWithin(expected, outputs, "while it switches");
                                return true;
                            });
            assertTrue(counts.stream().allMatch(count -> count > 0), counts::toString);
            assertEquals(0, runtime.report().predictions().unplanned());
        }
    }

    @Test
    void switchTo_closedModel_doesNothing() throws Exception {
        StockInterpreter.loadEngine();
        Path file = TestModels.built("uneven");
        ServedModel runtime = Served.open(file);
        runtime.close();

        runtime.switchTo(choice(new Candidate(FixedChoice.operators(file, "xnnpack"), 1)));
    }

    private static DelegationChoice choice(Candidate candidate) {
        return new DelegationChoice(candidate, Origin.MEASURED, "a test");
    }

    private static DelegationReport report(ServedModel runtime) {
        return runtime.report().delegation().orElseThrow();
    }

    private static List<ByteBuffer> data(List<OutputTensor> outputs) {
        return outputs.stream().map(OutputTensor::data).toList();
    }

    @Tag("long")
    @Test
    void oneLine_backgroundProfile_predictsFirstThenGoesOver() throws Exception {
        Path file = ModelCopy.of("uneven", folder);
        // One thread, because a measurement beside other tests must not depend on a second core.
        Map<String, Object> arguments =
                Map.of("delegation.profile", "background:3s", "memplan.threads", 1);
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            List<ByteBuffer> values = stock.randomInputs(1);
            List<ByteBuffer> expected = stock.run(values);
            assertEquals(Origin.UNVERIFIED, report(model).origin());
            Await.until(
                    Duration.ofMinutes(10),
                    () -> {
                        Tolerance.assertWithin(
                                expected,
                                Planned.predict(model, values, stock.shapes()),
                                "meanwhile");
                        return ModelCopy.hasProfile(file);
                    });
        }
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            List<ByteBuffer> values = stock.randomInputs(2);
            assertEquals(Origin.STORED, report(model).origin());
            assertTrue(report(model).delegatedOperators() > 0, report(model).toString());
            Tolerance.assertWithin(
                    stock.run(values), Planned.predict(model, values, stock.shapes()), "stored");
        }
    }

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }
}
