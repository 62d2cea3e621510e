package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import com.google.common.base.Throwables;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model of DJL's engine for ONNX Runtime, and the Java binding that the engine uses. Everything
 * is reached by reflection, because an application may have any version of both, or neither.
 */
final class OrtAdapter {

    private static final String SUFFIX = ".onnx";
    private static final String DEFAULT_NAME = "model.onnx";

    /** A graph of one operator, RandomNormal: no inputs, and nothing to compute beforehand. */
    private static final byte[] PROBE =
            HexFormat.of()
                    .parseHex(
                            "08083a390a1f1201"
                                    + "79220c52616e646f6d4e6f726d616c2a0c0a0573686170654004a00107"
                                    + "120570726f6265620f0a0179120a0a08080112040a0208044202100d");

    private final Model model;
    private final Object environment;
    private final Object options;

    private OrtAdapter(Model model, Object environment, Object options) {
        this.model = model;
        this.environment = environment;
        this.options = options;
    }

    /**
     * Reads what the engine keeps with a model.
     *
     * @throws ReflectiveOperationException if the engine is not as we know it
     */
    static OrtAdapter of(Model model) throws ReflectiveOperationException {
        return new OrtAdapter(model, field(model, "env"), field(model, "sessionOptions"));
    }

    private static Object field(Object owner, String name) throws ReflectiveOperationException {
        return field(owner.getClass(), owner, name);
    }

    private static Object field(Class<?> type, Object owner, String name)
            throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    private Class<?> binding(String name) throws ClassNotFoundException {
        return Class.forName(
                "ai.onnxruntime." + name, true, environment.getClass().getClassLoader());
    }

    /** Returns the address of the table of functions. */
    long api() throws ReflectiveOperationException {
        return (long) field(binding("OnnxRuntime"), null, "ortApiHandle");
    }

    /** Returns the address of the environment. */
    long environment() throws ReflectiveOperationException {
        return (long) field(environment, "nativeHandle");
    }

    /**
     * Returns the file that the engine loaded, by the engine's own rule; empty if there is none, as
     * the model came from a stream.
     */
    Optional<Path> file() {
        Path folder = model.getModelPath();
        String name = model.getName();
        String folderName = folder.toFile().getName();
        return Stream.of(name, name + SUFFIX, folderName, folderName + SUFFIX, DEFAULT_NAME)
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /**
     * Makes sessions to come use the environment's allocator, and no memory patterns; or the
     * engine's own, with patterns, as is its default.
     */
    void useEnvironmentAllocator(boolean on) throws ReflectiveOperationException {
        useEnvironmentAllocator(options, on);
        options.getClass()
                .getMethod("setMemoryPatternOptimization", boolean.class)
                .invoke(options, !on);
    }

    private static void useEnvironmentAllocator(Object options, boolean on)
            throws ReflectiveOperationException {
        options.getClass()
                .getMethod("addConfigEntry", String.class, String.class)
                .invoke(options, "session.use_env_allocators", on ? "1" : "0");
    }

    /** Runs a tiny model with the environment's allocator. */
    void probe() throws Exception {
        Class<?> type = binding("OrtSession$SessionOptions");
        try (AutoCloseable own = (AutoCloseable) type.getConstructor().newInstance()) {
            type.getMethod("setIntraOpNumThreads", int.class).invoke(own, 1);
            useEnvironmentAllocator(own, true);
            Object session =
                    environment
                            .getClass()
                            .getMethod("createSession", byte[].class, type)
                            .invoke(environment, PROBE, own);
            try (AutoCloseable opened = (AutoCloseable) session) {
                Object result =
                        opened.getClass().getMethod("run", Map.class).invoke(opened, Map.of());
                ((AutoCloseable) result).close();
            }
        }
    }

    /**
     * Creates a session of a file with the model's own options.
     *
     * @throws IOException if the engine does not load it
     */
    AutoCloseable createSession(Path file) throws ReflectiveOperationException, IOException {
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

    /** Returns a block of the engine's, which owns the session and is closed with the model. */
    Block newBlock(Object session) throws ReflectiveOperationException {
        NDManager manager = model.getNDManager();
        for (Constructor<?> constructor : model.getBlock().getClass().getConstructors()) {
            if (constructor.getParameterCount() == 2) {
                return (Block) constructor.newInstance(session, manager);
            }
        }
        throw new NoSuchMethodException(model.getBlock().getClass().getName());
    }
}
