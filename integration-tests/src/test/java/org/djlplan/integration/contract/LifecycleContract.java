package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models, predictors and outputs may be closed in any order, and closing frees their memory. */
interface LifecycleContract extends Contract {

    private ModelCase first(Path folder) throws IOException {
        return engine().models(folder).get(0);
    }

    @Test
    default void close_everythingInAnyOrderAndTwice_frees(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        List<ByteBuffer> expected = each.stock(1).get(0);
        for (int order = 0; order < 12; order++) {
            ZooModel<NDList, NDList> model = each.load();
            Predictor<NDList, NDList> one = model.newPredictor();
            Predictor<NDList, NDList> other = model.newPredictor();
            NDManager manager = engine().newManager();
            List<AutoCloseable> all = new ArrayList<>(List.of(model, one, other, manager));
            for (int i = 0; i < 4; i++) {
                NDList kept = (i % 2 == 0 ? one : other).predict(each.inputs(manager, 0));
                assertEquals(expected, ModelCase.bytes(kept));
                all.add(kept);
            }
            Collections.shuffle(all, new Random(order));
            // DJL's models of ONNX Runtime cannot be closed twice.
            int most = engine() == EngineCase.ONNX_RUNTIME ? 1 : 2;
            for (int times = 0; times < most; times++) {
                for (AutoCloseable closeable : all) {
                    closeable.close();
                }
                Collections.reverse(all);
            }
            everythingIsFreed();
        }
    }

    @Test
    default void close_managerOfTheModel_freesIt(@TempDir Path folder) throws Exception {
        ZooModel<NDList, NDList> model = first(folder).load();
        model.getNDManager().close();
        model.close();
    }

    @Test
    default void close_modelAndPredictor_outputsStayAndPredictionsFail(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        List<ByteBuffer> expected = each.stock(1).get(0);
        ZooModel<NDList, NDList> model = each.load();
        Predictor<NDList, NDList> predictor = model.newPredictor();
        try (NDManager manager = engine().newManager()) {
            NDList kept = predictor.predict(each.inputs(manager, 0));
            kept.attach(manager);
            model.close();
            assertThrows(Exception.class, () -> each.predict(predictor, 0));
            predictor.close();
            assertThrows(Exception.class, () -> each.predict(model, 0));
            try (ZooModel<NDList, NDList> again = each.load()) {
                for (int seed = 1; seed < 4; seed++) {
                    each.predict(again, seed);
                }
                assertEquals(expected, ModelCase.bytes(kept));
            }
        }
    }

    /** Closes its model before the call has ended. */
    final class ClosingTranslator implements NoBatchifyTranslator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            return inputs;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            context.getModel().close();
            return outputs;
        }
    }

    @Test
    default void close_modelInsideOfAPrediction_leavesItsOutputs(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        List<ByteBuffer> expected = each.stock(1).get(0);
        PlannedTranslatorFactory closing = PlannedTranslatorFactory.wrap(new ClosingTranslator());
        ZooModel<NDList, NDList> model =
                each.criteria()
                        .optTranslatorFactory(each.with(closing, Map.of()))
                        .build()
                        .loadModel();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(expected, each.predict(predictor, 0));
        }
    }

    /**
     * Inputs and outputs belong to the callers, because DJL closes arrays of the model under the
     * engine.
     */
    @Test
    default void close_whilePredictionsRun_eachIsRightOrFails(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        List<ByteBuffer> expected = each.stock(1).get(0);
        for (int round = 0; round < 9; round++) {
            Map<String, Integer> options = Map.of("memplan.workers", round % 3);
            ZooModel<NDList, NDList> model = each.load(options);
            AtomicBoolean closing = new AtomicBoolean();
            CountDownLatch predicted = new CountDownLatch(4);
            CompletableFuture<List<Integer>> right =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return Threads.all(
                                            4,
                                            thread ->
                                                    predictUntilClosed(
                                                            each, model, expected, closing,
                                                            predicted));
                                } catch (Exception e) {
                                    throw new AssertionError(e);
                                }
                            });
            assertTrue(predicted.await(60, TimeUnit.SECONDS));
            closing.set(true);
            model.close();
            int sum = right.get(60, TimeUnit.SECONDS).stream().mapToInt(count -> count).sum();
            assertTrue(sum >= 4, sum + " predictions");
            everythingIsFreed();
        }
    }

    private int predictUntilClosed(
            ModelCase each,
            ZooModel<NDList, NDList> model,
            List<ByteBuffer> expected,
            AtomicBoolean closing,
            CountDownLatch predicted) {
        engine().prepareThread();
        int right = 0;
        while (true) {
            try {
                assertEquals(expected, each.predict(model, 0));
                right++;
                predicted.countDown();
            } catch (TranslateException | RuntimeException e) {
                assertTrue(closing.get(), () -> "before the close: " + e);
                return right;
            }
        }
    }

    private static WeakReference<Block> blockOfClosed(ModelCase each) throws Exception {
        try (ZooModel<NDList, NDList> model = each.load()) {
            return new WeakReference<>(model.getBlock());
        }
    }

    @Test
    default void close_withoutAPrediction_blockIsCollected(@TempDir Path folder) throws Exception {
        WeakReference<Block> block = blockOfClosed(first(folder));
        Await.until(
                () -> {
                    System.gc();
                    return block.refersTo(null);
                });
    }

    @Test
    default void load_again_answersAsStockWithOneArena(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        List<List<ByteBuffer>> expected = each.stock(3);
        for (int i = 0; i < 20; i++) {
            try (ZooModel<NDList, NDList> model = each.load()) {
                assertEquals(expected.get(i % 3), each.predict(model, i % 3));
                assertTrue(PlannedModels.pools().arenas().count() <= 1);
            }
        }
    }

    @Test
    default void load_interruptedThread_isPlannedAndStaysInterrupted(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        Thread.currentThread().interrupt();
        try (ZooModel<NDList, NDList> model = each.load()) {
            assertTrue(Thread.interrupted());
            assertTrue(PlanReport.of(model).orElseThrow().planned());
        } finally {
            boolean unused = Thread.interrupted();
        }
    }

    @Test
    default void load_requiredButSwitchedOff_failsWithTheReason(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        ModelException e =
                assertThrows(
                        ModelException.class,
                        () ->
                                each.load(
                                                Map.of(
                                                        "memplan.required",
                                                        true,
                                                        "memplan.enabled",
                                                        false))
                                        .close());
        assertEquals(
                "memplan.enabled=false",
                assertInstanceOf(NotPlannedException.class, Throwables.getRootCause(e)).reason());
    }

    @Test
    default void load_switchedOff_isStock(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> stock = each.loadStock();
                ZooModel<NDList, NDList> model =
                        each.criteria()
                                .optTranslatorFactory(new PlannedTranslatorFactory())
                                .optArgument("memplan.enabled", false)
                                .build()
                                .loadModel()) {
            assertTrue(PlanHandle.of(model).isEmpty());
            assertTrue(PlanReport.of(model).isEmpty());
            assertEquals(stock.getBlock().getClass(), model.getBlock().getClass());
            assertEquals(each.stock(1).get(0).size(), each.predict(model, 0).size());
            assertEquals(List.of(), log.ours("INFO"));
            assertEquals(List.of(), log.ours("WARN"));
        }
        assertTrue(Files.notExists(each.file().resolveSibling(".djlplan")));
    }

    @Test
    default void load_readOnlyFolder_plansAndWritesNothingThere(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        Path own = each.file().getParent();
        List<List<ByteBuffer>> expected = each.stock(3);
        Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("r-xr-xr-x"));
        try (ZooModel<NDList, NDList> model = each.load()) {
            for (int seed = 0; seed < 3; seed++) {
                assertEquals(expected.get(seed), each.predict(model, seed));
            }
            assertTrue(PlanReport.of(model).orElseThrow().planned());
            try (Stream<Path> after = Files.list(own)) {
                assertEquals(List.of(each.file()), after.toList());
            }
        } finally {
            Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    /** A model loaded after the replacement is the new one; both work at the same time. */
    @Test
    default void predict_fileReplacedThenDeleted_usesTheLoadedWeights(@TempDir Path folder)
            throws Exception {
        List<ModelCase> models = engine().models(folder);
        ModelCase each = models.get(0);
        ModelCase other = models.get(1);
        ModelCase replaced = new ModelCase(engine(), each.file(), other.inputSets());
        List<ByteBuffer> expected = each.stock(1).get(0);
        List<ByteBuffer> ofOther = other.stock(1).get(0);
        try (ZooModel<NDList, NDList> model = each.load()) {
            Files.move(other.file(), each.file(), StandardCopyOption.REPLACE_EXISTING);
            assertEquals(expected, each.predict(model, 0));
            try (ZooModel<NDList, NDList> after = replaced.load()) {
                assertEquals(ofOther, replaced.predict(after, 0));
                assertEquals(expected, each.predict(model, 0));
            }
            Files.delete(each.file());
            assertEquals(expected, each.predict(model, 0));
            assertThrows(Exception.class, () -> each.load().close());
        }
    }

    @Test
    default void load_damagedFile_failsAsStock(@TempDir Path folder) throws Exception {
        ModelCase each = first(folder);
        byte[] bytes = Files.readAllBytes(each.file());
        for (int length : new int[] {0, 10, bytes.length / 2}) {
            Files.write(each.file(), Arrays.copyOf(bytes, length));
            Exception stock = assertThrows(Exception.class, () -> each.loadStock().close());
            Exception planned = assertThrows(Exception.class, () -> each.load().close());
            assertEquals(stock.getClass(), planned.getClass());
        }
        Files.write(each.file(), bytes);
        try (ZooModel<NDList, NDList> model = each.load()) {
            assertTrue(PlanReport.of(model).orElseThrow().planned());
        }
    }

    @Test
    default void trim_afterABurst_returnsMemoryAndPredictsOn(@TempDir Path folder)
            throws Exception {
        ModelCase each = first(folder);
        List<List<ByteBuffer>> expected = each.stock(3);
        try (ZooModel<NDList, NDList> model = each.load(Map.of("memplan.workers", 3))) {
            Threads.all(
                    8,
                    thread -> {
                        engine().prepareThread();
                        for (int i = 0; i < 12; i++) {
                            assertEquals(expected.get(i % 3), each.predict(model, i % 3));
                        }
                        return true;
                    });
            long burst = PlannedModels.pools().arenas().bytes();
            assertTrue(burst > 0);
            PlanHandle.of(model).orElseThrow().trim();
            long trimmed = PlannedModels.pools().arenas().bytes();
            // TensorFlow Lite's arenas keep their size; only their pages are returned.
            long most = engine() == EngineCase.TFLITE ? burst : burst / 2;
            assertTrue(trimmed <= most, trimmed + " of " + burst);
            assertEquals(expected.get(1), each.predict(model, 1));
        }
    }

    private static long arenaBytes() {
        return PlannedModels.pools().arenas().bytes();
    }

    @Test
    default void predict_modelsInTurn_shareOneArenaOfTheLargest(@TempDir Path folder)
            throws Exception {
        List<ModelCase> all = engine().models(folder);
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        List<Long> alone = new ArrayList<>();
        for (ModelCase each : all) {
            try (ZooModel<NDList, NDList> model = each.load()) {
                List<ByteBuffer> unused = each.predict(model, 0);
                alone.add(arenaBytes());
            }
            models.add(each.load());
        }
        long largest = Collections.max(alone);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < models.size(); i++) {
                assertEquals(all.get(i).stock(1).get(0), all.get(i).predict(models.get(i), 0));
            }
        }
        assertEquals(1, PlannedModels.pools().arenas().count());
        assertTrue(arenaBytes() >= largest && arenaBytes() < largest * 5 / 4, alone.toString());
        int first = alone.indexOf(largest);
        models.remove(first).close();
        List<ByteBuffer> unused = all.get(first == 0 ? 1 : 0).predict(models.get(0), 0);
        assertTrue(arenaBytes() < largest, arenaBytes() + " of " + alone);
        models.forEach(ZooModel::close);
        assertEquals(0, arenaBytes());
    }
}
