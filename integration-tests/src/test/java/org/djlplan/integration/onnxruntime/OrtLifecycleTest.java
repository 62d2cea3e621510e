package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.BaseModel;
import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.BaseNDManager;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import ai.djl.translate.DefaultTranslatorFactory;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.PairList;
import ai.djl.util.Progress;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests memory, outputs and errors of ONNX models from loading to closing. */
@Tag("onnxruntime")
class OrtLifecycleTest {

    private static final long WEIGHTS_BYTES = 4L << 20;

    @TempDir Path folder;

    private static NDList image(NDManager manager, long side) {
        return new NDList(OrtModels.floats(manager, new Random(side), new Shape(1, 3, side, side)));
    }

    @Test
    void close_outputsKept_areReadableAndUnchanged() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        ZooModel<NDList, NDList> model = OrtModels.planned(file);
        Predictor<NDList, NDList> predictor = model.newPredictor();
        NDManager manager = model.getNDManager().newSubManager();
        NDArray first = predictor.predict(image(manager, 64)).head();
        List<ByteBuffer> before = OrtModels.bytes(new NDList(first));
        for (int i = 1; i < 20; i++) {
            predictor.predict(image(manager, 8L * i)).close();
        }
        assertEquals(before, OrtModels.bytes(new NDList(first)));
        first.detach();
        predictor.close();
        model.close();
        try (ZooModel<NDList, NDList> other = OrtModels.planned(file);
                Predictor<NDList, NDList> another = other.newPredictor();
                NDManager own = other.getNDManager().newSubManager()) {
            another.predict(image(own, 128)).close();
            assertEquals(before, OrtModels.bytes(new NDList(first)));
        }
        first.close();
    }

    @Test
    void close_lastModel_freesArenas() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(image(manager, 320)).close();
            assertTrue(ArenaPool.shared().metric().arenaBytes() > 1 << 20);
        }
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
    }

    @Test
    void predict_smallAfterLarge_arenaIsTrimmed() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(image(manager, 512)).close();
            long large = ArenaPool.shared().metric().arenaBytes();
            Await.until(
                    () -> {
                        predictor.predict(image(manager, 32)).close();
                        return ArenaPool.shared().metric().arenaBytes() < large / 8;
                    });
        }
    }

    @Test
    @Tag("long")
    void predict_noneForAMoment_keepsWhatTheLastUsed() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> expected = OrtModels.bytes(predictor.predict(image(manager, 512)));
            predictor.predict(image(manager, 32)).close();
            Await.until(() -> ArenaPool.shared().metric().arenaBytes() < 1 << 20);
            assertEquals(expected, OrtModels.bytes(predictor.predict(image(manager, 512))));
        }
    }

    @Test
    void predict_twoModels_shareOneArena() throws Exception {
        Path file = OrtModels.Kind.DETECTOR.write(folder);
        try (ZooModel<NDList, NDList> first = OrtModels.planned(file);
                ZooModel<NDList, NDList> second = OrtModels.planned(file);
                Predictor<NDList, NDList> one = first.newPredictor();
                Predictor<NDList, NDList> other = second.newPredictor();
                NDManager manager = first.getNDManager().newSubManager()) {
            one.predict(image(manager, 320)).close();
            long bytes = ArenaPool.shared().metric().arenaBytes();
            other.predict(image(manager, 320)).close();
            assertEquals(1, ArenaPool.shared().metric().arenas());
            assertTrue(ArenaPool.shared().metric().arenaBytes() < bytes * 5 / 4);
        }
    }

    @Test
    void memory_largeWeights_areCounted() throws Exception {
        Path file = OnnxSketch.large().write(folder.resolve("large.onnx"));
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            MemoryReport memory = PlanHandle.of(model).orElseThrow().memory().orElseThrow();
            assertTrue(memory.weightsBytes() >= WEIGHTS_BYTES, memory.toString());
            assertTrue(memory.weightsBytes() < 3 * WEIGHTS_BYTES, memory.toString());
        }
    }

    @Test
    void predict_wrongInputs_failsAsStockDoes() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file);
                ZooModel<NDList, NDList> planned = OrtModels.planned(file)) {
            assertEquals(
                    error(stock, new Shape(1, 4, 32, 32)), error(planned, new Shape(1, 4, 32, 32)));
            assertEquals(error(stock, new Shape(3, 32)), error(planned, new Shape(3, 32)));
            assertEquals(error(stock, new Shape()), error(planned, new Shape()));
            try (Predictor<NDList, NDList> predictor = planned.newPredictor();
                    NDManager manager = planned.getNDManager().newSubManager()) {
                assertEquals(1, predictor.predict(image(manager, 32)).size());
            }
        }
    }

    private static String error(ZooModel<NDList, NDList> model, Shape shape) {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList inputs = new NDList(OrtModels.floats(manager, new Random(1), shape));
            TranslateException e =
                    assertThrows(TranslateException.class, () -> predictor.predict(inputs));
            return Throwables.getRootCause(e).toString();
        }
    }

    @Test
    void load_damagedFile_failsAsStockDoes() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        byte[] bytes = Files.readAllBytes(file);
        for (int length : new int[] {0, 10, bytes.length / 2, bytes.length - 1}) {
            Files.write(file, Arrays.copyOf(bytes, length));
            assertThrows(MalformedModelException.class, () -> OrtModels.stock(file).close());
            assertThrows(MalformedModelException.class, () -> OrtModels.planned(file).close());
        }
    }

    @Test
    void load_deviceThatIsNotThere_failsAsStockDoes() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        List<String> errors = new ArrayList<>();
        for (TranslatorFactory factory :
                List.of(
                        new DefaultTranslatorFactory(),
                        PlannedTranslatorFactory.wrap(new NoopTranslator()))) {
            MalformedModelException e =
                    assertThrows(
                            MalformedModelException.class,
                            () ->
                                    OrtModels.criteria(file)
                                            .optDevice(Device.gpu())
                                            .optTranslatorFactory(factory)
                                            .build()
                                            .loadModel());
            errors.add(Throwables.getRootCause(e).getMessage());
        }
        assertEquals(errors.get(0), errors.get(1));
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            assertTrue(PlanHandle.of(model).orElseThrow().report().planned());
        }
    }

    @Test
    void limitInputBytes_largerInput_isRefused() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            PlanHandle.of(model).orElseThrow().limitInputBytes(3 * 64 * 64 * 4);
            predictor.predict(image(manager, 64)).close();
            TranslateException e =
                    assertThrows(
                            TranslateException.class, () -> predictor.predict(image(manager, 65)));
            assertInstanceOf(InputTooLargeException.class, Throwables.getRootCause(e));
        }
    }

    @Test
    void load_onlyEngine_createsTheSessionOnce() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        TranslatorFactory factory =
                new OrtModels.Removing(PlannedTranslatorFactory.wrap(new NoopTranslator()), file);
        try (ZooModel<NDList, NDList> model =
                        OrtModels.criteria(file).optTranslatorFactory(factory).build().loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(image(manager, 64)).close();
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            assertEquals(1, plan.report().predictions().online());
            assertTrue(plan.memory().orElseThrow().weightsBytes() > 0);
        }
    }

    @Test
    void load_switchedOffByAnArgument_isStock() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        try (ZooModel<NDList, NDList> model =
                        OrtModels.criteria(file)
                                .optTranslatorFactory(
                                        PlannedTranslatorFactory.wrap(new NoopTranslator()))
                                .optArgument("memplan.enabled", "false")
                                .build()
                                .loadModel();
                ZooModel<NDList, NDList> stock = OrtModels.stock(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                Predictor<NDList, NDList> expected = stock.newPredictor()) {
            assertFalse(PlanHandle.of(model).isPresent());
            assertEquals(
                    OrtModels.predict(stock, expected, OrtModels.Kind.CLASSIFIER, 1),
                    OrtModels.predict(model, predictor, OrtModels.Kind.CLASSIFIER, 1));
        }
    }

    @Test
    void load_elsewhereAfterAQuestion_isStock() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        assertTrue(
                PlannedTranslatorFactory.wrap(new NoopTranslator())
                        .isSupported(NDList.class, NDList.class));
        try (Model model = Model.newInstance("other", "OnnxRuntime")) {
            assertThrows(IOException.class, () -> model.load(folder.resolve("none.onnx")));
        }
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            assertTrue(PlanHandle.of(model).orElseThrow().report().planned());
        }
    }

    private static Object provider() throws ReflectiveOperationException {
        Field engines = Engine.class.getDeclaredField("ALL_ENGINES");
        engines.setAccessible(true);
        return ((Map<?, ?>) engines.get(null)).get("OnnxRuntime");
    }

    private static void assertStock(ZooModel<NDList, NDList> model) throws Exception {
        assertFalse(provider().getClass().getName().startsWith("org.djlplan"));
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            long before = OrtModels.allocations();
            predictor.predict(image(manager, 32)).close();
            assertEquals(before, OrtModels.allocations());
        }
    }

    @Test
    void load_afterOneThatFoundNoFile_isStock() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        OrtModels.planned(file).close();
        Path empty = Files.createDirectory(folder.resolve("empty"));
        List<Criteria<NDList, NDList>> both =
                List.of(
                        OrtModels.criteria(empty)
                                .optTranslatorFactory(
                                        PlannedTranslatorFactory.wrap(new NoopTranslator()))
                                .build(),
                        OrtModels.criteria(file).optTranslator(new NoopTranslator()).build());
        List<ZooModel<NDList, NDList>> loaded = new ArrayList<>();
        for (Criteria<NDList, NDList> criteria : both) {
            try {
                loaded.add(criteria.loadModel());
            } catch (ModelException | IOException e) {
                assertEquals(List.of(), loaded, e::toString);
            }
        }
        try (ZooModel<NDList, NDList> stock = Iterables.getOnlyElement(loaded)) {
            assertStock(stock);
        }
    }

    @Test
    void load_afterOneThatAskedForNoEngine_isStock() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        OrtModels.planned(file).close();
        Progress failing =
                (Progress)
                        Proxy.newProxyInstance(
                                Progress.class.getClassLoader(),
                                new Class<?>[] {Progress.class},
                                (proxy, method, arguments) -> {
                                    throw new IllegalStateException("no download");
                                });
        Criteria<NDList, NDList> criteria =
                OrtModels.criteria(file)
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                        .optProgress(failing)
                        .build();
        assertThrows(IllegalStateException.class, criteria::loadModel);
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            assertStock(stock);
        }
    }

    /** A block of which the first ones cannot be made. */
    public static final class FailingBlock extends AbstractBlock implements AutoCloseable {

        private static final List<AutoCloseable> SESSIONS = new ArrayList<>();
        private static int failures;

        /** Whether the first block's manager takes nothing more until another block is made. */
        private static boolean capsOnce;

        private final Block block;

        private FailingBlock(Block block) {
            this.block = block;
        }

        /**
         * Returns a block in place of another one.
         *
         * @param number how many of the next blocks fail
         */
        static FailingBlock of(Block block, int number) {
            SESSIONS.clear();
            capsOnce = false;
            failures = number;
            return new FailingBlock(block);
        }

        /** Has the signature of the engine's own constructor. */
        public FailingBlock(Object session, Object manager) throws ReflectiveOperationException {
            SESSIONS.add((AutoCloseable) session);
            if (SESSIONS.size() <= failures) {
                throw new IllegalStateException("no block today");
            }
            if (capsOnce) {
                cap(manager, false);
            }
            block =
                    (Block)
                            Class.forName("ai.djl.onnxruntime.engine.OrtSymbolBlock")
                                    .getConstructors()[0]
                                    .newInstance(session, manager);
            if (capsOnce) {
                cap(manager, SESSIONS.size() == 1);
            }
        }

        private static void cap(Object manager, boolean on) throws ReflectiveOperationException {
            Field capped = BaseNDManager.class.getDeclaredField("capped");
            capped.setAccessible(true);
            ((AtomicBoolean) capped.get(manager)).set(on);
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore parameters,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return block.forward(parameters, inputs, training, params);
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputShapes) {
            return block.getOutputShapes(inputShapes);
        }

        @Override
        public void close() {
            try {
                ((AutoCloseable) block).close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Loads a model whose first blocks after that cannot be made. */
    private Model failing(int failures) throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        Model model = Model.newInstance(file.getFileName().toString(), "OnnxRuntime");
        model.load(file);
        Block engines = model.getBlock();
        // Only a model without a block is given one.
        Field block = BaseModel.class.getDeclaredField("block");
        block.setAccessible(true);
        block.set(model, FailingBlock.of(engines, failures));
        return model;
    }

    private static Translator<NDList, NDList> plan(Model model) throws TranslateException {
        return PlannedTranslatorFactory.wrap(new NoopTranslator())
                .newInstance(NDList.class, NDList.class, model, Map.of());
    }

    private static void assertClosed(AutoCloseable session) {
        InvocationTargetException e =
                assertThrows(
                        InvocationTargetException.class,
                        () -> session.getClass().getMethod("getNumInputs").invoke(session));
        assertInstanceOf(IllegalStateException.class, e.getCause());
    }

    @Test
    void load_blockCannotBeMade_closesItsSessionAndIsStock() throws Exception {
        try (Model model = failing(1)) {
            Translator<NDList, NDList> translator = plan(model);
            assertEquals(2, FailingBlock.SESSIONS.size());
            assertClosed(FailingBlock.SESSIONS.get(0));
            try (Predictor<NDList, NDList> predictor = model.newPredictor(translator);
                    NDManager manager = model.getNDManager().newSubManager()) {
                assertEquals(1, predictor.predict(image(manager, 32)).size());
            }
        }
    }

    @Test
    void load_noBlockCanBeMade_fails() throws Exception {
        Model model = failing(2);
        TranslateException e = assertThrows(TranslateException.class, () -> plan(model));
        assertEquals(2, FailingBlock.SESSIONS.size());
        FailingBlock.SESSIONS.forEach(OrtLifecycleTest::assertClosed);
        assertTrue(e.getMessage().contains("cannot be loaded again"), e::getMessage);
        assertEquals(1, e.getSuppressed().length);
        assertFalse(model.getNDManager().isOpen());
    }

    @Test
    void load_managerThatTakesNothingMore_fails() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        Model model = Model.newInstance(file.getFileName().toString(), "OnnxRuntime");
        model.load(file);
        model.getNDManager().cap();
        assertThrows(TranslateException.class, () -> plan(model));
        assertFalse(model.getNDManager().isOpen());
    }

    @Test
    void load_memoryIsRefused_isStock() throws Exception {
        try (Model model = failing(0)) {
            FailingBlock.capsOnce = true;
            Translator<NDList, NDList> translator = plan(model);
            assertEquals(2, FailingBlock.SESSIONS.size());
            assertClosed(FailingBlock.SESSIONS.get(0));
            try (Predictor<NDList, NDList> predictor = model.newPredictor(translator);
                    NDManager manager = model.getNDManager().newSubManager()) {
                assertEquals(1, predictor.predict(image(manager, 32)).size());
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertTrue(report.unplannedReason().orElseThrow().contains("capped"));
        }
    }

    @Test
    void load_switchedOff_isStock() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        try (ZooModel<NDList, NDList> model =
                OrtModels.planned(file, Map.of("memplan.enabled", false))) {
            assertFalse(PlanHandle.of(model).isPresent());
        }
    }

    @Test
    void load_warmedUpAndVerified_predicts() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        Map<String, ?> options = Map.of("memplan.warmup", "1,3,32,32", "memplan.verify", true);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file, options);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(image(manager, 32)).close();
            assertTrue(PlanHandle.of(model).orElseThrow().report().predictions().online() >= 2);
        }
    }

    @Test
    void predict_stringsVerified_areStocks() throws Exception {
        Path file = OnnxSketch.strings().write(folder.resolve("strings.onnx"));
        String[] words = {"memory", "", "grün", "one that has no room in the object itself"};
        try (ZooModel<NDList, NDList> model =
                        OrtModels.planned(file, Map.of("memplan.verify", true));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            for (int i = 0; i < 6; i++) {
                NDList outputs = predictor.predict(new NDList(manager.create(words)));
                assertArrayEquals(words, outputs.singletonOrThrow().toStringArray());
            }
            assertEquals(6, PlanHandle.of(model).orElseThrow().report().predictions().online());
        }
    }

    @Test
    void load_fileOfTheSameNameWithoutSuffix_servesTheOneThatWasLoaded() throws Exception {
        Path file = OrtModels.Kind.CLASSIFIER.write(folder);
        Path other = OrtModels.Kind.DETECTOR.write(folder);
        Files.move(other, folder.resolve("CLASSIFIER"));
        try (Model model = Model.newInstance("model", "OnnxRuntime")) {
            model.load(file);
            try (Predictor<NDList, NDList> predictor = model.newPredictor(plan(model));
                    NDManager manager = model.getNDManager().newSubManager()) {
                NDArray classes = predictor.predict(image(manager, 32)).head();
                assertEquals(new Shape(1, 10), classes.getShape());
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertTrue(report.unplannedReason().orElseThrow().contains("two files"));
        }
    }
}
