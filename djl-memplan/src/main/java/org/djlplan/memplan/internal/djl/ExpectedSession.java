package org.djlplan.memplan.internal.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.engine.EngineProvider;
import ai.djl.ndarray.NDManager;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.runtime.FileMappings;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.collect.MapMaker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives djl-plan's allocator to the session of an ONNX model when DJL creates the session.
 *
 * <p>Before DJL loads a model, its only call to djl-plan asks the translator factory whether it
 * supports some types. If the same call of DJL then asks for ONNX Runtime's engine to make a model,
 * that model's session options are changed before DJL uses them. Nothing else of the load is
 * remembered, so a load may fail at any time. To notice the request, djl-plan replaces the engine's
 * provider by its own until the request, or until the call is over.
 */
final class ExpectedSession {

    private static final Logger logger = LoggerFactory.getLogger(ExpectedSession.class);
    private static final String ONNX_RUNTIME = "OnnxRuntime";

    /** DJL does not report a load that fails before it asks for an engine, so djl-plan looks. */
    private static final Duration LOOK_EVERY = Duration.ofMillis(200);

    /**
     * The stacks below the calls in which a model may be made, by the thread. Guarded by the class.
     */
    private static final Map<Thread, List<StackTraceElement>> EXPECTED = new HashMap<>();

    /** The models whose sessions are created with the allocator, with the mappings before that. */
    private static final Map<Model, FileMappings> MODELS = new MapMaker().weakKeys().makeMap();

    /** Whether sessions cannot be expected. */
    private static volatile boolean impossible;

    private ExpectedSession() {}

    /** Calls of DJL that load a model. Calls from the same place in the application are equal. */
    private static final class LoadCall {

        private static final String LOADER = "ai.djl.repository.zoo.BaseModelLoader";
        private static final String ENGINE = Engine.class.getName();
        private static final String MODEL = Model.class.getName();

        private LoadCall() {}

        /** Returns the stack below the innermost call of a stack; empty if the stack has none. */
        static Optional<List<StackTraceElement>> in(StackTraceElement[] stack) {
            for (int i = 0; i < stack.length; i++) {
                if (stack[i].getClassName().equals(LOADER)
                        && stack[i].getMethodName().equals("loadModel")) {
                    return Optional.of(List.of(stack).subList(i + 1, stack.length));
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

    /** Provides the engine as before, except to a call that is about to make a model. */
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
            Optional<List<StackTraceElement>> expected = expected(Thread.currentThread());
            if (expected.isEmpty()) {
                return engine;
            }
            StackTraceElement[] stack = new Throwable().getStackTrace();
            boolean same = LoadCall.in(stack).equals(expected);
            boolean makes = LoadCall.makesModel(stack);
            if (same && !makes) {
                return engine;
            }
            forget(Thread.currentThread());
            return same ? new PreparingEngine(engine) : engine;
        }
    }

    /** The engine, for one model whose session is to be created with the allocator. */
    private static final class PreparingEngine extends Engine {

        private final Engine inner;

        PreparingEngine(Engine inner) {
            this.inner = inner;
        }

        @Override
        public Model newModel(String name, Device device) {
            Model model = inner.newModel(name, device);
            prepare(model);
            return model;
        }

        @Override
        public Engine getAlternativeEngine() {
            return inner.getAlternativeEngine();
        }

        @Override
        public String getEngineName() {
            return inner.getEngineName();
        }

        @Override
        public int getRank() {
            return inner.getRank();
        }

        @Override
        public String getVersion() {
            return inner.getVersion();
        }

        @Override
        public boolean hasCapability(String capability) {
            return inner.hasCapability(capability);
        }

        @Override
        public NDManager newBaseManager() {
            return inner.newBaseManager();
        }

        @Override
        public NDManager newBaseManager(Device device) {
            return inner.newBaseManager(device);
        }
    }

    /**
     * Announces that this thread is about to load a model.
     *
     * @param given options set by the application's code
     */
    static void expect(Map<String, ?> given) {
        Optional<String> enabled = GivenOptions.ofApplication(OptionKey.ENABLED, given);
        if (impossible || (enabled.isPresent() && enabled.get().equalsIgnoreCase("false"))) {
            return;
        }
        if (Engine.hasEngine(ONNX_RUNTIME)) {
            LoadCall.in(new Throwable().getStackTrace())
                    .ifPresent(call -> expect(Thread.currentThread(), call));
        }
    }

    private static synchronized void expect(Thread thread, List<StackTraceElement> call) {
        try {
            Map<String, EngineProvider> providers = providers();
            EngineProvider present = providers.get(ONNX_RUNTIME);
            if (EXPECTED.isEmpty()) {
                Later.run(LOOK_EVERY, ExpectedSession::look);
            }
            if (!(present instanceof NoticingProvider)) {
                providers.put(ONNX_RUNTIME, new NoticingProvider(present));
            }
            EXPECTED.put(thread, call);
        } catch (ReflectiveOperationException | RuntimeException e) {
            impossible = true;
            logger.debug("ONNX models are loaded twice", e);
        }
    }

    private static synchronized Optional<List<StackTraceElement>> expected(Thread thread) {
        return Optional.ofNullable(EXPECTED.get(thread));
    }

    private static synchronized void forget(Thread thread) {
        EXPECTED.remove(thread);
        restoreIfIdle();
    }

    /** Forgets the calls that are over. */
    private static synchronized void look() {
        EXPECTED.entrySet()
                .removeIf(
                        each ->
                                !LoadCall.in(each.getKey().getStackTrace())
                                        .equals(Optional.of(each.getValue())));
        restoreIfIdle();
        if (!EXPECTED.isEmpty()) {
            Later.run(LOOK_EVERY, ExpectedSession::look);
        }
    }

    /** Makes DJL ask the engine's own provider, because ours retains its class loader. */
    private static void restoreIfIdle() {
        if (!EXPECTED.isEmpty()) {
            return;
        }
        try {
            Map<String, EngineProvider> providers = providers();
            if (providers.get(ONNX_RUNTIME) instanceof NoticingProvider ours) {
                providers.put(ONNX_RUNTIME, ours.inner());
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.debug("the provider of ONNX Runtime stays replaced", e);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, EngineProvider> providers() throws ReflectiveOperationException {
        Field field = Engine.class.getDeclaredField("ALL_ENGINES");
        field.setAccessible(true);
        return (Map<String, EngineProvider>) field.get(null);
    }

    /** Makes the session of a model that DJL has made, and not loaded yet, use the allocator. */
    private static void prepare(Model model) {
        try {
            OrtAdapter adapter = OrtAdapter.of(model);
            if (!model.getNDManager().getDevice().isGpu() && adapter.binding().attach().isEmpty()) {
                adapter.useEnvironmentAllocator(true);
                MODELS.put(model, FileMappings.now());
                OrtAllocator.beginLoad();
            }
        } catch (ReflectiveOperationException | RuntimeException | UnsupportedPlatformException e) {
            logger.debug("{} is loaded twice", model.getName(), e);
        }
    }

    /**
     * Returns the mappings before the session of a loaded model was created with the allocator;
     * empty if it was created without.
     */
    static Optional<FileMappings> mappingsBefore(Model model) {
        return Optional.ofNullable(MODELS.remove(model));
    }
}
