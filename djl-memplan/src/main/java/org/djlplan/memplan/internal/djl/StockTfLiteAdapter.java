package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.util.PairList;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.engine.TfLiteTypes;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The adapter of the stock TFLite engine. It finds the engine's classes by reflection. It also
 * finds the files of models, although the engine does not expose them. djl-plan's block is a
 * subclass in the engine's own package and class loader, which may differ from djl-plan's.
 */
final class StockTfLiteAdapter implements TfLiteAdapter {

    private static final String PACKAGE = "ai.djl.tflite.engine.";
    private static final String BLOCK = PACKAGE + "PlannedTfLiteSymbolBlock";
    private static final String EXTENSION = ".tflite";
    private static final Path MAPPINGS = Path.of("/proc/self/maps");

    private final Constructor<?> planned;
    private final Method stock;
    private final Method array;

    private StockTfLiteAdapter(Class<?> type) throws ReflectiveOperationException {
        planned = type.getConstructor(UnaryOperator.class, Runnable.class, PairList.class);
        Class<?> manager = type.getClassLoader().loadClass(PACKAGE + "TfLiteNDManager");
        stock = type.getMethod("stock", Path.class, manager);
        array =
                type.getMethod(
                        "array", NDManager.class, ByteBuffer.class, Shape.class, DataType.class);
    }

    /**
     * Returns the adapter of an engine.
     *
     * @param stockBlock the class of the engine's block
     */
    static StockTfLiteAdapter of(Class<?> stockBlock) throws ReflectiveOperationException {
        if (!stockBlock.getName().equals(PACKAGE + "TfLiteSymbolBlock")) {
            throw new ClassNotFoundException("the model has a block of " + stockBlock);
        }
        return new StockTfLiteAdapter(define(stockBlock));
    }

    private static synchronized Class<?> define(Class<?> stockBlock)
            throws ReflectiveOperationException {
        ClassLoader loader = stockBlock.getClassLoader();
        try {
            Class<?> found = Class.forName(BLOCK, false, loader);
            if (found.getClassLoader() == loader) {
                return found;
            }
        } catch (ClassNotFoundException | LinkageError e) {
            // Not there yet, or a copy in our loader that does not see the engine.
        }
        String resource = "/META-INF/djlplan/" + BLOCK.substring(PACKAGE.length()) + ".class";
        try (InputStream in = StockTfLiteAdapter.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new ClassNotFoundException(resource);
            }
            return MethodHandles.privateLookupIn(stockBlock, MethodHandles.lookup())
                    .defineClass(in.readAllBytes());
        } catch (IOException e) {
            throw new ClassNotFoundException(resource, e);
        }
    }

    @Override
    public Block planned(
            UnaryOperator<NDList> forward,
            Runnable close,
            PairList<String, Shape> inputs,
            PairList<String, Shape> outputs) {
        try {
            return (Block) planned.newInstance(forward, close, inputs);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Block stock(Path file, NDManager manager) {
        try {
            return (Block) stock.invoke(null, file, manager);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot load " + file + " again", e);
        }
    }

    @Override
    public NDArray array(
            NDManager manager, ByteBuffer data, Shape shape, DataType type, String name) {
        try {
            return (NDArray) array.invoke(null, manager, data, shape, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public DataType dataType(ElementType type) {
        switch (type) {
            case FLOAT32:
            case INT32:
            case INT64:
            case UINT8:
            case INT8:
            case BOOL:
                return TfLiteTypes.dataType(type);
            default:
                throw new IllegalStateException(
                        "the stock engine does not support tensors of type " + type);
        }
    }

    /**
     * Returns the file of a model that the engine has open, or empty if it was not loaded from a
     * file, or the model no longer knows the file's name.
     */
    static Optional<Path> fileOf(Model model) {
        Path folder = model.getModelPath();
        if (folder == null) {
            // Its block was set by hand.
            return Optional.empty();
        }
        if (Files.isRegularFile(folder)) {
            return Optional.of(folder).filter(StockTfLiteAdapter::isMapped);
        }
        return candidates(model.getName(), folder).stream()
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst()
                .filter(StockTfLiteAdapter::isMapped);
    }

    /**
     * Returns the names that {@code TfLiteModel.findModelFile} tries, in order. For a file instead
     * of a folder, the engine names the model after the file, without the name's last five
     * characters: {@code MobileFaceNet.t}.
     */
    private static List<String> candidates(String name, Path folder) {
        String folderName = folder.toAbsolutePath().getFileName().toString();
        return ImmutableList.of(
                name,
                name + EXTENSION,
                name.endsWith(".t") ? name + "flite" : name,
                folderName,
                folderName + EXTENSION);
    }

    /**
     * Returns whether this process maps the file. The engine maps the file it loads, so a file that
     * only has the right name, beside one that was loaded with a prefix, is not mapped.
     */
    private static boolean isMapped(Path file) {
        try (Stream<String> mappings = Files.lines(MAPPINGS, StandardCharsets.ISO_8859_1)) {
            byte[] name = file.toRealPath().toString().getBytes(StandardCharsets.UTF_8);
            String ending = " " + new String(name, StandardCharsets.ISO_8859_1);
            return mappings.anyMatch(mapping -> mapping.endsWith(ending));
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }
}
