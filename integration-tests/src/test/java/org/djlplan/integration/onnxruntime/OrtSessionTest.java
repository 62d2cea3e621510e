package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.BaseModel;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.PairList;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests which session an ONNX model gets: djl-plan's, which it is the only one to get, or the
 * engine's own after a load that failed.
 */
@Tag("onnxruntime")
class OrtSessionTest {

    @TempDir Path folder;

    @Test
    void load_onlyEngine_createsTheSessionOnce() throws Exception {
        Path file = OrtModels.classifier(folder);
        TranslatorFactory factory =
                new OrtModels.Removing(PlannedTranslatorFactory.wrap(new NoopTranslator()), file);
        try (ZooModel<NDList, NDList> model =
                        OrtModels.criteria(file).optTranslatorFactory(factory).build().loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(OrtModels.image(manager, 64)).close();
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            assertEquals(1, plan.report().predictions().online());
            assertTrue(plan.memory().orElseThrow().weightsBytes() > 0);
        }
    }

    /** Each attempt to create the session would read the whole file. */
    @Test
    void load_damagedFile_readsItOnce() throws Exception {
        Path file = OnnxSketch.table(100_000).write(folder.resolve("table.onnx"));
        OrtModels.planned(file).close();
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 1000));
        long before = ProcessSize.readBytes();
        assertThrows(MalformedModelException.class, () -> OrtModels.planned(file).close());
        double times = (double) (ProcessSize.readBytes() - before) / Files.size(file);
        assertTrue(times >= 1 && times < 1.5, times + " times");
    }

    @Test
    void load_elsewhereAfterAQuestion_isStock() throws Exception {
        Path file = OrtModels.classifier(folder);
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

    private static void assertStock(ZooModel<NDList, NDList> model) throws Exception {
        assertFalse(OrtModels.provider().startsWith("org.djlplan"));
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            long before = OrtModels.allocations();
            predictor.predict(OrtModels.image(manager, 32)).close();
            assertEquals(before, OrtModels.allocations());
        }
    }

    @Test
    void load_afterOneThatFoundNoFile_isStock() throws Exception {
        Path file = OrtModels.classifier(folder);
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

    /** Returns how often a session of the application's own uses djl-plan's allocator. */
    private static long allocationsOfOwnSession(Path file) throws Exception {
        long before = OrtModels.allocations();
        Class<?> type = Class.forName("ai.onnxruntime.OrtEnvironment");
        Object environment = type.getMethod("getEnvironment").invoke(null);
        Object session =
                type.getMethod("createSession", String.class).invoke(environment, file.toString());
        ((AutoCloseable) session).close();
        return OrtModels.allocations() - before;
    }

    @Test
    void createSession_afterALoadThatFoundNoFile_usesTheEnginesAllocator() throws Exception {
        Path file = OrtModels.classifier(folder);
        OrtModels.planned(file).close();
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertThrows(IOException.class, () -> OrtModels.planned(empty).close());
        assertEquals(0, allocationsOfOwnSession(file));
        assertFalse(OrtModels.provider().startsWith("org.djlplan"));
    }

    @Test
    void load_failsOnAThreadThatEnds_leavesTheEnginesProvider() throws Exception {
        Path file = OrtModels.classifier(folder);
        OrtModels.planned(file).close();
        Thread thread =
                new Thread(
                        () ->
                                assertThrows(
                                        IllegalStateException.class,
                                        () -> withoutDownload(file).loadModel()));
        thread.start();
        thread.join();
        Await.until(() -> !OrtModels.provider().startsWith("org.djlplan"));
    }

    @Test
    void load_afterOneThatAskedForNoEngine_isStock() throws Exception {
        Path file = OrtModels.classifier(folder);
        OrtModels.planned(file).close();
        assertThrows(IllegalStateException.class, () -> withoutDownload(file).loadModel());
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            assertStock(stock);
        }
    }

    /** Returns criteria whose load fails before DJL asks for the engine. */
    private static Criteria<NDList, NDList> withoutDownload(Path file) {
        return OrtModels.criteria(file)
                .optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                .optProgress(OrtModels.failingDownload())
                .build();
    }

    /** A block of which the first ones cannot be made. */
    public static final class FailingBlock extends AbstractBlock implements AutoCloseable {

        private static final List<AutoCloseable> SESSIONS = new ArrayList<>();
        private static int failures;

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
            failures = number;
            return new FailingBlock(block);
        }

        /** Has the signature of the engine's own constructor. */
        public FailingBlock(Object session, Object manager) throws ReflectiveOperationException {
            SESSIONS.add((AutoCloseable) session);
            if (SESSIONS.size() <= failures) {
                throw new IllegalStateException("no block today");
            }
            block =
                    (Block)
                            Class.forName("ai.djl.onnxruntime.engine.OrtSymbolBlock")
                                    .getConstructors()[0]
                                    .newInstance(session, manager);
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
        Path file = OrtModels.classifier(folder);
        Model model = Model.newInstance(file.getFileName().toString(), "OnnxRuntime");
        model.load(file);
        Block engines = model.getBlock();
        // Only a model without a block is given one.
        Field block = BaseModel.class.getDeclaredField("block");
        block.setAccessible(true);
        block.set(model, FailingBlock.of(engines, failures));
        return model;
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
            Translator<NDList, NDList> translator = OrtModels.plan(model);
            assertEquals(2, FailingBlock.SESSIONS.size());
            assertClosed(FailingBlock.SESSIONS.get(0));
            try (Predictor<NDList, NDList> predictor = model.newPredictor(translator);
                    NDManager manager = model.getNDManager().newSubManager()) {
                assertEquals(1, predictor.predict(OrtModels.image(manager, 32)).size());
            }
            String reason = PlanReport.of(model).orElseThrow().unplannedReason().orElseThrow();
            assertTrue(reason.contains("cannot be created with the allocator"), reason);
        }
    }

    @Test
    void load_noBlockCanBeMade_fails() throws Exception {
        Model model = failing(2);
        TranslateException e = assertThrows(TranslateException.class, () -> OrtModels.plan(model));
        assertEquals(2, FailingBlock.SESSIONS.size());
        FailingBlock.SESSIONS.forEach(OrtSessionTest::assertClosed);
        assertTrue(e.getMessage().contains("cannot be loaded again"), e::getMessage);
        assertEquals(1, e.getSuppressed().length);
        assertFalse(model.getNDManager().isOpen());
    }

    @Test
    void load_managerThatTakesNothingMore_fails() throws Exception {
        Path file = OrtModels.classifier(folder);
        Model model = Model.newInstance(file.getFileName().toString(), "OnnxRuntime");
        model.load(file);
        model.getNDManager().cap();
        assertThrows(TranslateException.class, () -> OrtModels.plan(model));
        assertFalse(model.getNDManager().isOpen());
    }
}
