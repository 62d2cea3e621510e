package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.util.PairList;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.config.Threads;
import org.djlplan.memplan.internal.engine.TfLiteEngineModel;

/**
 * The operations that planning needs from an engine "TFLite": DJL's own, or djl-plan's for current
 * DJL.
 */
interface TfLiteAdapter {

    /**
     * Returns the adapter of a model's engine.
     *
     * @throws ReflectiveOperationException if the engine is neither of the two
     */
    static TfLiteAdapter of(Model model) throws ReflectiveOperationException {
        return isOwn(model)
                ? new OwnTfLiteAdapter((TfLiteEngineModel) model)
                : StockTfLiteAdapter.of(model.getBlock().getClass());
    }

    /**
     * Returns the file of a model that the engine has open, or empty if it was not loaded from a
     * file, or the model no longer knows the file's name.
     */
    static Optional<Path> fileOf(Model model) {
        return isOwn(model) ? ((TfLiteEngineModel) model).file() : StockTfLiteAdapter.fileOf(model);
    }

    /**
     * Returns the number of threads with which the engine was asked to run a model, −1 for its
     * default.
     */
    static int threadsOf(Model model) {
        return isOwn(model) ? ((TfLiteEngineModel) model).threads() : Threads.DEFAULT;
    }

    private static boolean isOwn(Model model) {
        return model instanceof TfLiteEngineModel;
    }

    /**
     * Returns a block that predicts with {@code forward}, which receives and returns arrays in the
     * order of the block's user.
     *
     * @param close frees the resources of {@code forward}
     * @param inputs names and shapes of the inputs as in the file
     * @param outputs names and shapes of the outputs as in the file
     */
    Block planned(
            UnaryOperator<NDList> forward,
            Runnable close,
            PairList<String, Shape> inputs,
            PairList<String, Shape> outputs);

    /**
     * Returns a block as the engine makes it.
     *
     * @param manager the model's
     */
    Block stock(Path file, NDManager manager);

    /**
     * Returns an array of the engine over a buffer; it must be attached to a manager.
     *
     * @param manager the model's
     */
    NDArray array(NDManager manager, ByteBuffer data, Shape shape, DataType type, String name);

    /**
     * Returns DJL's type of an element type.
     *
     * @throws IllegalStateException if the engine has no such tensors
     */
    DataType dataType(ElementType type);

    /** Converts inputs from the user's order to the file's. */
    default NDList toModel(NDList inputs) {
        return inputs;
    }

    /** Converts outputs from the file's order to the user's. */
    default NDList fromModel(NDList outputs) {
        return outputs;
    }

    /** Closes a block of the engine. */
    default void close(Block block) {
        try {
            ((AutoCloseable) block).close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
