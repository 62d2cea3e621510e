package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.engine.EngineProvider;
import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives djl-plan's allocator to the session of an ONNX model when DJL creates the session.
 *
 * <p>Before DJL loads a model, its only call to djl-plan asks the translator factory whether it
 * supports some types. If the same call of DJL then asks for ONNX Runtime's engine to make a model,
 * the next session that the thread creates is expected to be the model's. To notice that request,
 * djl-plan replaces the engine's provider by its own while a load is announced.
 *
 * <p>DJL does not report a failed load. So a thread expects nothing any more once it makes another
 * model, or loads or uses a planned one. One case is not recognized: a load fails before it asks
 * for an engine, and the same statement of the application then loads a model without djl-plan.
 */
final class ExpectedSession {

    private static final Logger logger = LoggerFactory.getLogger(ExpectedSession.class);
    private static final String ONNX_RUNTIME = "OnnxRuntime";

    private static final ThreadLocal<Expected> EXPECTED = new ThreadLocal<>();

    /**
     * The threads that expect a session, perhaps with some that have ended. Guarded by the class.
     */
    private static final Set<Thread> EXPECTING = new HashSet<>();

    /** Whether a provider of ours is in the place of the engine's. */
    private static volatile boolean watching;

    private static volatile boolean tableReplaced;

    /**
     * Whether the first session cannot be expected. Later ones can, if the first model is planned.
     */
    private static volatile boolean unnoticed;

    private ExpectedSession() {}

    /**
     * The load that a thread has announced.
     *
     * @param call the call of DJL that loads
     * @param made whether the call makes an ONNX model, to which the next session then belongs
     */
    private record Expected(LoadCall call, boolean made) {}

    /**
     * A call of DJL that loads a model. Calls from the same place in the application are equal.
     *
     * @param callers the stack below the call
     */
    private record LoadCall(List<StackTraceElement> callers) {

        private static final String LOADER = "ai.djl.repository.zoo.BaseModelLoader";
        private static final String ENGINE = Engine.class.getName();
        private static final String MODEL = Model.class.getName();

        /** Returns the innermost such call of a stack; empty if the stack has none. */
        static Optional<LoadCall> in(StackTraceElement[] stack) {
            for (int i = 0; i < stack.length; i++) {
                if (stack[i].getClassName().equals(LOADER)
                        && stack[i].getMethodName().equals("loadModel")) {
                    return Optional.of(new LoadCall(List.of(stack).subList(i + 1, stack.length)));
                }
            }
            return Optional.empty();
        }

        /** Returns whether a stack asks for an engine to make a model, and not for a manager. */
        static boolean makesModel(StackTraceElement[] stack) {
            boolean asked = false;
            for (StackTraceElement frame : stack) {
                boolean ofEngine = frame.getClassName().equals(ENGINE);
                if (asked && !ofEngine) {
                    return frame.getClassName().equals(MODEL);
                }
                asked |= ofEngine;
            }
            return false;
        }
    }

    /** Provides the engine as before, and tells when a thread that loads a model asks for it. */
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
            Expected expected = EXPECTED.get();
            if (expected != null) {
                asked(engine, expected);
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
        expectNone();
        Optional<String> enabled = GivenOptions.ofApplication(OptionKey.ENABLED, given);
        if (enabled.isPresent() && enabled.get().equalsIgnoreCase("false")) {
            return;
        }
        if ((tableReplaced || !unnoticed) && Engine.hasEngine(ONNX_RUNTIME)) {
            Optional<LoadCall> call = LoadCall.in(new Throwable().getStackTrace());
            if (call.isPresent()) {
                watch(new Expected(call.get(), false));
            }
        }
    }

    private static void asked(Engine engine, Expected expected) {
        StackTraceElement[] stack = new Throwable().getStackTrace();
        boolean same = LoadCall.in(stack).equals(Optional.of(expected.call()));
        boolean makes = LoadCall.makesModel(stack);
        if (same && !makes) {
            return;
        }
        if (same && !expected.made()) {
            EXPECTED.set(new Expected(expected.call(), true));
            expectSession(engine);
        } else {
            expectNone();
        }
    }

    private static void expectSession(Engine engine) {
        try {
            if (!tableReplaced) {
                OrtBinding binding = OrtBinding.of(engine);
                if (!engine.defaultDevice().isGpu() && binding.attach().isEmpty()) {
                    prepare(binding);
                }
            }
            if (tableReplaced) {
                OrtAllocator.expect();
            } else {
                unnoticed = true;
            }
        } catch (ReflectiveOperationException | RuntimeException | UnsupportedPlatformException e) {
            giveUp(e);
        }
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

    /** Makes DJL ask our provider for the engine. */
    private static synchronized void watch(Expected expected) {
        try {
            Map<String, EngineProvider> providers = providers();
            EngineProvider present = providers.get(ONNX_RUNTIME);
            if (!(present instanceof NoticingProvider)) {
                providers.put(ONNX_RUNTIME, new NoticingProvider(present));
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            giveUp(e);
            return;
        }
        watching = true;
        EXPECTING.add(Thread.currentThread());
        EXPECTED.set(expected);
    }

    /**
     * Makes DJL ask the engine's own provider, unless other threads expect something: ours retains
     * its class loader.
     */
    private static synchronized void unwatch() {
        EXPECTED.remove();
        EXPECTING.remove(Thread.currentThread());
        EXPECTING.removeIf(thread -> !thread.isAlive());
        if (!EXPECTING.isEmpty()) {
            return;
        }
        try {
            Map<String, EngineProvider> providers = providers();
            if (providers.get(ONNX_RUNTIME) instanceof NoticingProvider ours) {
                providers.put(ONNX_RUNTIME, ours.inner());
            }
            watching = false;
        } catch (ReflectiveOperationException | RuntimeException e) {
            giveUp(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, EngineProvider> providers() throws ReflectiveOperationException {
        Field field = Engine.class.getDeclaredField("ALL_ENGINES");
        field.setAccessible(true);
        return (Map<String, EngineProvider>) field.get(null);
    }

    /**
     * Ends what this thread expects of a load that has failed. Costs almost nothing if no thread
     * expects anything.
     */
    static void expectNone() {
        Optional<OrtAllocator.Arrived> unused = arrived();
    }

    /**
     * Returns the session that this thread has created with our allocator since a load was
     * announced. Nothing is expected any more.
     */
    static Optional<OrtAllocator.Arrived> arrived() {
        Expected expected = watching ? EXPECTED.get() : null;
        if (expected == null) {
            return Optional.empty();
        }
        unwatch();
        return expected.made() ? OrtAllocator.arrived() : Optional.empty();
    }
}
