package org.djlplan.integration;

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
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.MappedFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Closing frees: in any order, twice, from any thread, however often. */
class LifecycleTest {

    private static final Path FILE = TestModels.built("blaze_face");

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
    void close_whilePredictionsRun_letsThemEndAndFrees() throws Exception {
        for (int round = 0; round < 20; round++) {
            ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of());
            List<CompletableFuture<Integer>> running = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                running.add(CompletableFuture.supplyAsync(() -> predictUntilClosed(model)));
            }
            Thread.sleep(20);
            CompletableFuture.runAsync(model::close).get(30, TimeUnit.SECONDS);
            for (CompletableFuture<Integer> each : running) {
                assertEquals(0, each.get(30, TimeUnit.SECONDS));
            }
        }
    }

    /** Returns how many predictions were wrong until the model was closed. */
    private static int predictUntilClosed(ZooModel<NDList, NDList> model) {
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
                } catch (Exception e) {
                    return wrong;
                }
            }
        }
    }

    @Test
    void loadAndClose_fiveHundredTimes_growsNeitherMemoryNorMappings() throws Exception {
        List<ByteBuffer> inputs;
        List<List<Integer>> shapes;
        try (StockInterpreter stock = new StockInterpreter(FILE, 1)) {
            inputs = stock.randomInputs(1);
            shapes = stock.shapes();
        }
        long residentBytes = 0;
        int mappings = 0;
        for (int i = 0; i < 500; i++) {
            try (ZooModel<NDList, NDList> model =
                    Planned.load(FILE, Map.of("memplan.threads", 1))) {
                List<ByteBuffer> unused = Planned.predict(model, inputs, shapes);
            }
            if (i == 100) {
                System.gc();
                residentBytes = residentBytes();
                mappings = mappings();
            }
        }
        System.gc();
        long grownBytes = residentBytes() - residentBytes;
        assertTrue(grownBytes < 16 << 20, "grew by " + grownBytes + " bytes");
        int grownMappings = mappings() - mappings;
        assertTrue(grownMappings < 20, "grew by " + grownMappings + " mappings");
    }

    private static long residentBytes() throws Exception {
        String statm = Files.readString(Path.of("/proc/self/statm"));
        return Long.parseLong(statm.split(" ", -1)[1]) * 4096;
    }

    private static int mappings() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/maps")).size();
    }
}
