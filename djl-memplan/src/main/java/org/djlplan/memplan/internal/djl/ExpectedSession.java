package org.djlplan.memplan.internal.djl;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineProvider;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives djl-plan's allocator to the session of an ONNX model when DJL creates the session.
 *
 * <p>Before DJL loads a model, it only asks the translator factory whether it supports some types.
 * If the thread asks for ONNX Runtime's engine after that call, the next session that the thread
 * creates is expected to be the model's. Until the first ONNX model is loaded, a provider of ours
 * replaces the engine's provider and notices the request for the engine.
 */
final class ExpectedSession {

    private static final Logger logger = LoggerFactory.getLogger(ExpectedSession.class);
    private static final String ONNX_RUNTIME = "OnnxRuntime";

    /** Whether this thread loads a model whose engine is not known yet. */
    private static final ThreadLocal<Boolean> ANNOUNCED = new ThreadLocal<>();

    private static final ThreadLocal<Boolean> EXPECTED = new ThreadLocal<>();

    private static volatile boolean tableReplaced;

    /**
     * Whether the first session cannot be expected. Later ones can, if the first model is planned.
     */
    private static volatile boolean unnoticed;

    private ExpectedSession() {}

    /** Provides the engine as before, and notices when a thread that loads a model asks for it. */
    private record NoticingProvider(EngineProvider inner) implements EngineProvider {

        @Override
        public String getEngineName() {
            return inner.getEngineName();
        }

        @Override
        public int getEngineRank() {
            return inner.getEngineRank();
        }

        @Override
        public Engine getEngine() {
            Engine engine = inner.getEngine();
            if (ANNOUNCED.get() != null) {
                ANNOUNCED.remove();
                expect(engine);
            }
            return engine;
        }
    }

    /**
     * Announces that this thread is about to load a model.
     *
     * @param given options set by the application's code
     */
    static void expect(Map<String, ?> given) {
        Optional<OrtAllocator.Arrived> unused = arrived();
        Optional<String> enabled = GivenOptions.ofApplication(OptionKey.ENABLED, given);
        if (enabled.isPresent() && enabled.get().equalsIgnoreCase("false")) {
            return;
        }
        try {
            if (tableReplaced) {
                expectSession();
            } else if (!unnoticed && Engine.hasEngine(ONNX_RUNTIME)) {
                watch(true);
                ANNOUNCED.set(true);
            }
        } catch (ReflectiveOperationException | RuntimeException | UnsupportedPlatformException e) {
            giveUp(e);
        }
    }

    private static void expect(Engine engine) {
        try {
            OrtBinding binding = OrtBinding.of(engine);
            if (!engine.defaultDevice().isGpu() && binding.attach().isEmpty()) {
                prepare(binding);
            }
            if (tableReplaced) {
                expectSession();
            } else {
                unnoticed = true;
            }
        } catch (ReflectiveOperationException | RuntimeException | UnsupportedPlatformException e) {
            giveUp(e);
        }
    }

    private static void expectSession() throws UnsupportedPlatformException {
        OrtAllocator.expect();
        EXPECTED.set(true);
    }

    private static void giveUp(Exception problem) {
        unnoticed = true;
        logger.debug("ONNX models are loaded twice", problem);
    }

    /** Prepares for later models; the allocator is already attached. */
    static synchronized void prepare(OrtBinding binding) {
        if (tableReplaced) {
            return;
        }
        try {
            tableReplaced =
                    !Engine.getEngine(ONNX_RUNTIME).defaultDevice().isGpu()
                            && binding.replaceTable();
        } catch (ReflectiveOperationException | RuntimeException e) {
            giveUp(e);
        }
    }

    /** Makes DJL ask our provider for the engine, or the engine's own again. */
    private static synchronized void watch(boolean on) throws ReflectiveOperationException {
        Field field = Engine.class.getDeclaredField("ALL_ENGINES");
        field.setAccessible(true);
        @SuppressWarnings("unchecked")
        Map<String, EngineProvider> providers = (Map<String, EngineProvider>) field.get(null);
        EngineProvider present = providers.get(ONNX_RUNTIME);
        if (on && !(present instanceof NoticingProvider)) {
            providers.put(ONNX_RUNTIME, new NoticingProvider(present));
        } else if (!on && present instanceof NoticingProvider ours) {
            providers.put(ONNX_RUNTIME, ours.inner());
        }
    }

    /**
     * Returns the session that this thread has created with our allocator since {@link
     * #expect(Map)}. From now on DJL asks the engine's own provider, because ours would retain
     * djl-plan's class loader.
     */
    static Optional<OrtAllocator.Arrived> arrived() {
        boolean announced = ANNOUNCED.get() != null;
        ANNOUNCED.remove();
        boolean expected = EXPECTED.get() != null;
        EXPECTED.remove();
        if (announced || expected) {
            try {
                watch(false);
            } catch (ReflectiveOperationException | RuntimeException e) {
                giveUp(e);
            }
        }
        return expected ? OrtAllocator.arrived() : Optional.empty();
    }
}
