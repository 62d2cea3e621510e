package org.djlplan.memplan.internal.djl;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * The Java binding of ONNX Runtime, with the environment that DJL's engine uses. Everything is
 * reached by reflection, because an application may have any version of both, or neither.
 */
final class OrtBinding {

    /** A graph of one operator, RandomNormal: no inputs, and nothing to compute beforehand. */
    private static final byte[] PROBE =
            HexFormat.of()
                    .parseHex(
                            "08083a390a1f1201"
                                    + "79220c52616e646f6d4e6f726d616c2a0c0a0573686170654004a00107"
                                    + "120570726f6265620f0a0179120a0a08080112040a0208044202100d");

    private final Object environment;

    private OrtBinding(Object environment) {
        this.environment = environment;
    }

    /**
     * Returns the binding that a model or DJL's engine uses.
     *
     * @throws ReflectiveOperationException if the binding's fields are others than expected
     */
    static OrtBinding of(Object modelOrEngine) throws ReflectiveOperationException {
        return new OrtBinding(field(modelOrEngine, "env"));
    }

    /** Returns the value of a private field. */
    static Object field(Object owner, String name) throws ReflectiveOperationException {
        return accessible(owner.getClass(), name).get(owner);
    }

    static Field accessible(Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private Class<?> binding(String name) throws ClassNotFoundException {
        return Class.forName(
                "ai.onnxruntime." + name, true, environment.getClass().getClassLoader());
    }

    /**
     * Registers the allocator.
     *
     * @return why it cannot be used; empty when it can
     * @throws ReflectiveOperationException if the binding is not as we know it
     */
    Optional<String> attach() throws ReflectiveOperationException {
        return OrtAllocator.attach(
                accessible(binding("OnnxRuntime"), "ortApiHandle").getLong(null),
                (long) field(environment, "nativeHandle"),
                this::probe);
    }

    /** Makes later sessions use the environment's allocator, or not. */
    static void useEnvironmentAllocator(Object options, boolean on)
            throws ReflectiveOperationException {
        options.getClass()
                .getMethod("addConfigEntry", String.class, String.class)
                .invoke(options, "session.use_env_allocators", on ? "1" : "0");
    }

    /** Runs a tiny model with the environment's allocator. */
    private void probe() throws Exception {
        Class<?> type = binding("OrtSession$SessionOptions");
        try (AutoCloseable own = (AutoCloseable) type.getConstructor().newInstance()) {
            type.getMethod("setIntraOpNumThreads", int.class).invoke(own, 1);
            useEnvironmentAllocator(own, true);
            boolean unused =
                    probe(
                            own,
                            run -> {
                                run.run();
                                return true;
                            });
        }
    }

    /**
     * Creates a session of a tiny model.
     *
     * @param options of the session
     * @param user may run the model
     * @return the result of {@code user}
     * @throws Exception if the engine fails
     */
    boolean probe(Object options, Predicate<Runnable> user) throws Exception {
        Object session =
                environment
                        .getClass()
                        .getMethod("createSession", byte[].class, options.getClass())
                        .invoke(environment, PROBE, options);
        try (AutoCloseable opened = (AutoCloseable) session) {
            return user.test(() -> run(opened));
        }
    }

    private static void run(AutoCloseable session) {
        try {
            Object result =
                    session.getClass().getMethod("run", Map.class).invoke(session, Map.of());
            ((AutoCloseable) result).close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Creates a session of a file.
     *
     * @throws IOException if the engine does not load it
     */
    AutoCloseable createSession(Path file, Object options)
            throws ReflectiveOperationException, IOException {
        try {
            return (AutoCloseable)
                    environment
                            .getClass()
                            .getMethod("createSession", String.class, options.getClass())
                            .invoke(environment, file.toString(), options);
        } catch (InvocationTargetException e) {
            Throwables.throwIfUnchecked(e.getCause());
            throw new IOException(e.getCause());
        }
    }
}
