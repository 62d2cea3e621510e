package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.tflite.Probe;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that closing frees resources: in any order, twice, from any thread, any number of times.
 */
class LifecycleTest {

    private static final Path FILE = TestModels.built("blaze_face");

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @AfterEach
    void everythingIsFreed() {
        assertEquals(0, MappedFile.openCount());
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
    }

    @Test
    void close_modelBeforePredictorAndTwice_frees() throws Exception {
        ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of());
        Predictor<NDList, NDList> predictor = model.newPredictor();
        model.close();
        predictor.close();
        model.close();
        predictor.close();
    }

    @Test
    void close_managerBeforeModel_frees() throws Exception {
        ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of());
        model.getNDManager().close();
        assertEquals(0, MappedFile.openCount());
        model.close();
    }

    /** There is one mapping: the two models share it, and the stock interpreters are closed. */
    @Test
    void load_sameFileTwice_mapsItOnce() throws Exception {
        awaitUnmapped();
        try (ZooModel<NDList, NDList> one = Planned.load(FILE, Map.of())) {
            try (ZooModel<NDList, NDList> other = Planned.load(FILE, Map.of())) {
                assertTrue(PlanReport.of(other).orElseThrow().planned());
                assertEquals(1, MappedFile.openCount());
                assertEquals(1, mappingsOfTheFile());
            }
            assertTrue(PlanReport.of(one).orElseThrow().planned());
            assertEquals(1, mappingsOfTheFile());
        }
        assertEquals(0, mappingsOfTheFile());
    }

    /**
     * Waits, because Java unmaps files of other tests' stock interpreters only when it collects
     * garbage.
     */
    private static void awaitUnmapped() {
        Await.until(
                () -> {
                    if (mappingsOfTheFile() == 0) {
                        return true;
                    }
                    System.gc();
                    return false;
                });
    }

    private static long mappingsOfTheFile() throws Exception {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.endsWith("/blaze_face.tflite")).count();
        }
    }

    @Test
    void run_afterClose_throwsWithMessage() throws Exception {
        ServedModel runtime = Served.open(FILE);
        runtime.close();
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> runtime.run(List.of(), List.of()));
        assertEquals("the model is closed", refused.getMessage());
    }

    @Test
    void predict_afterClose_isAClearError() throws Exception {
        ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of());
        Predictor<NDList, NDList> predictor = model.newPredictor();
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList inputs = Planned.inputs(manager, stock.randomInputs(1), stock.shapes());
            model.close();
            assertThrows(Exception.class, () -> predictor.predict(inputs));
        }
    }

    @Test
    void outputs_outliveTheModel() throws Exception {
        try (StockInterpreter stock = new StockInterpreter(FILE, -1)) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of());
            NDManager application = NDManager.newBaseManager("TFLite");
            Predictor<NDList, NDList> predictor = model.newPredictor();
            NDList outputs = predictor.predict(Planned.inputs(application, inputs, stock.shapes()));
            predictor.close();
            model.close();
            List<ByteBuffer> copies = new ArrayList<>();
            outputs.forEach(output -> copies.add(Planned.copy(output.toByteBuffer())));
            assertEquals(stock.run(inputs), copies);
            application.close();
        }
    }

    @Test
    @Tag("long")
    void close_whilePredictionsRun_letsThemEndAndFrees() throws Exception {
        for (int round = 0; round < 20; round++) {
            ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of());
            CountDownLatch predicted = new CountDownLatch(1);
            List<CompletableFuture<Integer>> running = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                running.add(
                        CompletableFuture.supplyAsync(() -> predictUntilClosed(model, predicted)));
            }
            assertTrue(predicted.await(60, TimeUnit.SECONDS));
            CompletableFuture.runAsync(model::close).get(30, TimeUnit.SECONDS);
            for (CompletableFuture<Integer> each : running) {
                assertEquals(0, each.get(30, TimeUnit.SECONDS));
            }
        }
    }

    /** Returns how many predictions were wrong until the model was closed. */
    private static int predictUntilClosed(
            ZooModel<NDList, NDList> model, CountDownLatch predicted) {
        int wrong = 0;
        try (StockInterpreter stock = new StockInterpreter(FILE, -1)) {
            List<ByteBuffer> inputs = stock.randomInputs(3);
            List<ByteBuffer> expected = stock.run(inputs);
            while (true) {
                try (NDManager own = NDManager.newBaseManager("TFLite");
                        Predictor<NDList, NDList> predictor = model.newPredictor()) {
                    List<ByteBuffer> outputs =
                            Planned.predict(predictor, own, inputs, stock.shapes());
                    wrong += outputs.equals(expected) ? 0 : 1;
                    predicted.countDown();
                } catch (Exception e) {
                    return wrong;
                }
            }
        }
    }

    /** Runs in a separate JVM with a fixed heap, so that only native memory can grow. */
    @Tag("long")
    @Test
    void loadAndClose_fiveHundredTimes_growsNeitherMemoryNorMappings() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(
                                "-Xms128m",
                                "-Xmx128m",
                                "-XX:+AlwaysPreTouch",
                                "-XX:+UseSerialGC",
                                "-Dai.djl.tflite.disable_alternative=true")
                        .run(Probe.class, "reload", FILE.toString(), "100");
        assertEquals(0, result.exitCode(), result.err());
        List<Long> grown = result.out().lines().map(Long::valueOf).toList();
        assertTrue(grown.get(0) < 16 << 20, "grew by " + grown.get(0) + " bytes");
        assertTrue(grown.get(1) < 20, "grew by " + grown.get(1) + " mappings");
    }
}
