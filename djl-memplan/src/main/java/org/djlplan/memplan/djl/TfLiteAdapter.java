package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.util.PairList;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/**
 * The stock engine's classes that we touch, by reflection: our block is a subclass of the engine's
 * in the engine's own package and class loader, which need not be ours.
 */
final class TfLiteAdapter {

    private static final String BLOCK = "ai.djl.tflite.engine.PlannedTfLiteSymbolBlock";

    private final Constructor<?> planned;
    private final Method stock;
    private final Method array;

    private TfLiteAdapter(Class<?> type) throws ReflectiveOperationException {
        planned = type.getConstructor(UnaryOperator.class, Runnable.class, PairList.class);
        Class<?> manager = type.getClassLoader().loadClass("ai.djl.tflite.engine.TfLiteNDManager");
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
    static TfLiteAdapter of(Class<?> stockBlock) throws ReflectiveOperationException {
        if (!stockBlock.getName().equals("ai.djl.tflite.engine.TfLiteSymbolBlock")) {
            throw new ClassNotFoundException("the model has a block of " + stockBlock);
        }
        return new TfLiteAdapter(define(stockBlock));
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
        String resource = '/' + BLOCK.replace('.', '/') + ".class";
        try (InputStream in = TfLiteAdapter.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new ClassNotFoundException(resource);
            }
            return MethodHandles.privateLookupIn(stockBlock, MethodHandles.lookup())
                    .defineClass(in.readAllBytes());
        } catch (IOException e) {
            throw new ClassNotFoundException(resource, e);
        }
    }

    /** Returns a block that predicts with {@code forward}. */
    Block planned(UnaryOperator<NDList> forward, Runnable close, PairList<String, Shape> inputs) {
        try {
            return (Block) planned.newInstance(forward, close, inputs);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a block as the stock engine makes it. */
    Block stock(Path file, NDManager manager) {
        try {
            return (Block) stock.invoke(null, file, manager);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot load " + file + " again", e);
        }
    }

    /** Returns an array of the stock engine over a buffer; it must be attached to a manager. */
    NDArray array(NDManager manager, ByteBuffer data, Shape shape, DataType type) {
        try {
            return (NDArray) array.invoke(null, manager, data, shape, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Closes the stock engine's block. */
    void close(Block block) {
        try {
            ((AutoCloseable) block).close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
