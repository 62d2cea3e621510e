package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.djl.SharedModels;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.io.ByteStreams;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests one model that is shared by all callers. */
class SharedModelsTest {

    @TempDir Path folder;
    private final SharedModels models = new SharedModels(Duration.ofMillis(20));
    private final Path file = TestModels.built("chains");

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @AfterEach
    void nothingIsLeft() {
        Freed.assertEverythingIsCollected();
    }

    private static Criteria<NDList, NDList> criteria(Path file) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file)
                .optEngine("TFLite")
                .optTranslatorFactory(Planned.factory(Map.of()))
                .optArgument("delegation.enabled", false)
                .build();
    }

    /** Predicts, and fails unless the outputs are the engine's. */
    private static void predict(ZooModel<NDList, NDList> model, int seed) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(TestModels.built("chains"), 1)) {
            List<ByteBuffer> inputs = stock.randomInputs(seed);
            assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
        }
    }

    @Test
    void get_soonAfterTheLastWasClosed_isTheSameModel() throws Exception {
        SharedModels patient = new SharedModels(Duration.ofSeconds(2));
        ZooModel<NDList, NDList> first = patient.get("m", criteria(file));
        first.close();
        try (ZooModel<NDList, NDList> again = patient.get("m", criteria(file))) {
            assertSame(first.getWrappedModel(), again.getWrappedModel());
        }
    }

    @Test
    void closeUnused_someInUse_closesOnlyTheOthers() throws Exception {
        SharedModels patient = new SharedModels(Duration.ofMinutes(5));
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ZooModel<NDList, NDList> used = patient.get("used", criteria(file));
        ZooModel<NDList, NDList> unused = patient.get("unused", criteria(file));
        unused.close();
        assertTrue(unused.getNDManager().isOpen(), "it was not kept");

        patient.closeUnused(SharedModelsTest.class.getClassLoader().getParent());
        assertTrue(unused.getNDManager().isOpen(), "closed for another class loader");
        patient.closeUnused(context);

        assertFalse(unused.getNDManager().isOpen());
        predict(used, 1);
        used.close();
        patient.closeUnused(context);
        assertFalse(used.getNDManager().isOpen());
        try (ZooModel<NDList, NDList> again = patient.get("used", criteria(file))) {
            predict(again, 2);
        }
        patient.closeUnused(context);
    }

    @Test
    void get_failedLoad_isTriedAgain() throws Exception {
        Path late = folder.resolve("late.tflite");
        assertThrows(ModelException.class, () -> models.get("late", criteria(late)).close());
        Files.copy(file, late);
        try (ZooModel<NDList, NDList> model = models.get("late", criteria(late))) {
            predict(model, 3);
        }
    }

    /** Other work of the thread goes on while the model that is due to be closed is locked. */
    @Test
    void get_longLoad_doesNotStopLater() throws Exception {
        models.get("m", criteria(file)).close();
        CountDownLatch ran = new CountDownLatch(1);
        ZooModel<NDList, NDList> again =
                models.get(
                        "m",
                        criteria(file),
                        Map.of("other", "options"),
                        wanted -> {
                            Later.run(Duration.ofMillis(50), ran::countDown);
                            assertTrue(
                                    Uninterruptibles.awaitUninterruptibly(
                                            ran, 10, TimeUnit.SECONDS));
                            return wanted.loadModel();
                        });
        predict(again, 3);
        again.close();
    }

    @Test
    void get_sameKeyOtherTypes_isRefused() throws Exception {
        Criteria<String, Integer> other =
                Criteria.builder().setTypes(String.class, Integer.class).optModelPath(file).build();
        try (ZooModel<NDList, NDList> model = models.get("m", criteria(file))) {
            String message =
                    assertThrows(IllegalArgumentException.class, () -> models.get("m", other))
                            .getMessage();
            assertTrue(message.contains(NDList.class.getName()), message);
            predict(model, 4);
        }
    }

    private static ZooModel<NDList, NDList> plannedModel(Path file, int threads) throws Exception {
        return PlannedModels.acquire(
                "options",
                criteria(file).toBuilder()
                        .optTranslatorFactory(
                                new PlannedTranslatorFactory().with("memplan.threads", threads))
                        .build());
    }

    /**
     * For example, two jobs run one after the other, and the first one's model is kept for a
     * minute.
     */
    @Test
    void plannedModels_otherOptions_applyOnceModelIsUnused() throws Exception {
        ZooModel<NDList, NDList> first = plannedModel(file, 1);
        try (ZooModel<NDList, NDList> same = plannedModel(file, 1)) {
            assertSame(first.getWrappedModel(), same.getWrappedModel());
        }
        String message =
                assertThrows(IllegalArgumentException.class, () -> plannedModel(file, 2).close())
                        .getMessage();
        assertEquals(
                "the model of options is used with other [memplan.threads], which count when it is"
                        + " closed; or give it another key",
                message);
        predict(first, 5);
        first.close();
        try (ZooModel<NDList, NDList> second = plannedModel(file, 2)) {
            assertNotSame(first.getWrappedModel(), second.getWrappedModel());
            assertFalse(first.getNDManager().isOpen());
        }
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
    }

    @Test
    void predictor_ofAViewThatIsGarbage_keepsTheModelUntilItIsGarbage() throws Exception {
        predictWithoutAView();
        awaitCollected(new WeakReference<>(new Object()));
    }

    private void predictWithoutAView() throws Exception {
        Predictor<NDList, NDList> predictor = models.get("m", criteria(file)).newPredictor();
        Model loaded;
        try (ZooModel<NDList, NDList> same = models.get("m", criteria(file))) {
            loaded = same.getWrappedModel();
        }
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            for (int i = 0; i < 3; i++) {
                awaitCollected(new WeakReference<>(new Object()));
                List<ByteBuffer> inputs = stock.randomInputs(i);
                assertEquals(
                        stock.run(inputs),
                        Planned.predict(predictor, loaded.getNDManager(), inputs, stock.shapes()));
            }
        }
    }

    private static void awaitCollected(WeakReference<?> reference) {
        Await.until(
                () -> {
                    System.gc();
                    return reference.get() == null;
                });
    }

    /** Loads one class itself, and all others from the test's class loader. */
    private static final class Application extends ClassLoader {

        Application() {
            super(SharedModelsTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(Forgetful.class.getName())) {
                return super.loadClass(name, resolve);
            }
            synchronized (this) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream code =
                    getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = ByteStreams.toByteArray(code);
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void classLoader_dropped_isCollectedWithItsModel() throws Exception {
        WeakReference<ClassLoader> dropped = usedAndDropped();
        awaitCollected(dropped);
    }

    private WeakReference<ClassLoader> usedAndDropped() throws Exception {
        Application loader = new Application();
        Thread thread = Thread.currentThread();
        ClassLoader own = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            Object used =
                    loader.loadClass(Forgetful.class.getName())
                            .getMethod("use", SharedModels.class, Path.class)
                            .invoke(null, models, file);
            assertEquals(true, used);
        } finally {
            thread.setContextClassLoader(own);
        }
        return new WeakReference<>(loader);
    }
}
