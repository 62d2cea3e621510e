package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.config.InputShape;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** The adapter for a model of DJL's engine for ONNX Runtime. */
final class OrtAdapter {

    private static final String SUFFIX = ".onnx";
    private static final String DEFAULT_NAME = "model.onnx";

    private final Model model;
    private final OrtBinding binding;
    private final Object options;

    /**
     * A block of the engine, with its session.
     *
     * @param manager of the block alone
     */
    record OwnBlock(Block block, NDManager manager) implements AutoCloseable {

        @Override
        public void close() {
            manager.close();
        }
    }

    private OrtAdapter(Model model, OrtBinding binding, Object options) {
        this.model = model;
        this.binding = binding;
        this.options = options;
    }

    /**
     * Reads the engine's fields of a model.
     *
     * @throws ReflectiveOperationException if the engine's fields are others than expected
     */
    static OrtAdapter of(Model model) throws ReflectiveOperationException {
        return new OrtAdapter(
                model, OrtBinding.of(model), OrtBinding.field(model, "sessionOptions"));
    }

    OrtBinding binding() {
        return binding;
    }

    /**
     * Returns the file that the engine loaded, by the engine's own rule; empty if the model came
     * from a stream, or if it may be one of two: the name of a model that was loaded from a given
     * file lacks the suffix.
     */
    Optional<Path> file() {
        Path folder = model.getModelPath();
        String name = model.getName();
        if (Files.isRegularFile(folder.resolve(name))
                && Files.isRegularFile(folder.resolve(name + SUFFIX))) {
            return Optional.empty();
        }
        String folderName = folder.toFile().getName();
        return Stream.of(name, name + SUFFIX, folderName, folderName + SUFFIX, DEFAULT_NAME)
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    private static Object sessionOf(Block block) throws ReflectiveOperationException {
        return OrtBinding.field(block, "session");
    }

    /**
     * Returns the inputs that the model describes; empty if it leaves dimensions open.
     *
     * @param block of the engine
     */
    static List<InputShape> inputs(Block block) throws ReflectiveOperationException {
        Object session = sessionOf(block);
        Map<?, ?> described = (Map<?, ?>) call(session, "getInputInfo");
        List<InputShape> inputs = new ArrayList<>();
        for (Object node : described.values()) {
            Object tensor = call(node, "getInfo");
            long[] shape = (long[]) call(tensor, "getShape");
            if (Arrays.stream(shape).anyMatch(length -> length < 1)) {
                return List.of();
            }
            String type = String.valueOf(tensor.getClass().getField("type").get(tensor));
            inputs.add(new InputShape(Longs.asList(shape), dataType(type)));
        }
        return inputs;
    }

    private static Object call(Object owner, String method) throws ReflectiveOperationException {
        return owner.getClass().getMethod(method).invoke(owner);
    }

    private static String dataType(String type) {
        return switch (type) {
            case "FLOAT" -> "float32";
            case "DOUBLE" -> "float64";
            case "BOOL" -> "boolean";
            default -> type.toLowerCase(Locale.ROOT);
        };
    }

    /**
     * Makes later sessions use the environment's allocator without memory patterns or, if {@code
     * on} is false, the engine's own allocator with patterns, which is the engine's default.
     */
    void useEnvironmentAllocator(boolean on) throws ReflectiveOperationException {
        OrtBinding.useEnvironmentAllocator(options, on);
        options.getClass()
                .getMethod("setMemoryPatternOptimization", boolean.class)
                .invoke(options, !on);
    }

    /**
     * Creates a session of the model's file with the model's own options.
     *
     * @throws IOException if there is no such file, or the engine does not load it
     */
    AutoCloseable createSession() throws ReflectiveOperationException, IOException {
        Path file = file().orElseThrow(() -> new IOException("the model's file is not there"));
        return binding.createSession(file, options);
    }

    /**
     * Creates a session of a tiny model with the model's own options.
     *
     * @param user may run the model
     * @return the result of {@code user}
     * @throws Exception if the engine fails
     */
    boolean probe(Predicate<Runnable> user) throws Exception {
        return binding.probe(options, user);
    }

    /**
     * Takes the session from the model's block, which then does not close it.
     *
     * @return a block with the session that is not closed with the model
     */
    OwnBlock takeSession() throws ReflectiveOperationException {
        Block block = model.getBlock();
        OwnBlock taken = newBlock(sessionOf(block));
        OrtBinding.accessible(block.getClass(), "session").set(block, null);
        return taken;
    }

    /** Returns a block with a session that is not closed with the model. */
    OwnBlock newBlock(Object session) throws ReflectiveOperationException {
        NDManager own =
                Engine.getEngine("OnnxRuntime").newBaseManager(model.getNDManager().getDevice());
        try {
            return new OwnBlock(engineBlock(session, own), own);
        } catch (ReflectiveOperationException | RuntimeException e) {
            own.close();
            throw e;
        }
    }

    /** Returns a block of the engine that owns the session and is closed with a manager. */
    Block engineBlock(Object session, NDManager manager) throws ReflectiveOperationException {
        for (Constructor<?> constructor : model.getBlock().getClass().getConstructors()) {
            if (constructor.getParameterCount() == 2) {
                return (Block) constructor.newInstance(session, manager);
            }
        }
        throw new NoSuchMethodException(model.getBlock().getClass().getName());
    }
}
