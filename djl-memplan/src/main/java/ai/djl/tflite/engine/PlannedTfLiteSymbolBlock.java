package ai.djl.tflite.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.tensorflow.lite.Interpreter;

/**
 * Replaces the stock engine's block, and predicts with a given function. The engine casts a model's
 * block to {@link TfLiteSymbolBlock} when the model closes, and that class can be extended only
 * from its own package. So this class is defined in the engine's class loader, and uses only types
 * of the JDK and of DJL.
 */
public final class PlannedTfLiteSymbolBlock extends TfLiteSymbolBlock {

    private final UnaryOperator<NDList> forward;
    private final Runnable close;
    private final PairList<String, Shape> inputs;

    /**
     * @param forward predicts: maps inputs to outputs
     * @param close frees the resources of {@code forward}; may be called more than once
     * @param inputs names and shapes of the inputs
     */
    public PlannedTfLiteSymbolBlock(
            UnaryOperator<NDList> forward, Runnable close, PairList<String, Shape> inputs) {
        super(null, null);
        this.forward = forward;
        this.close = close;
        this.inputs = inputs;
    }

    /** Returns a block as the stock engine makes it. */
    public static TfLiteSymbolBlock stock(Path file, TfLiteNDManager manager) {
        return new TfLiteSymbolBlock(new Interpreter(file.toFile()), manager);
    }

    /**
     * Returns an array over a buffer in any memory; {@code NDManager.create} would copy it into
     * newly allocated native memory. The array must be attached to its user's manager.
     */
    public static NDArray array(NDManager manager, ByteBuffer data, Shape shape, DataType type) {
        return new TfLiteNDArray(manager, null, data, shape, type);
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore parameterStore,
            NDList list,
            boolean training,
            PairList<String, Object> params) {
        return forward.apply(list);
    }

    @Override
    public PairList<String, Shape> describeInput() {
        return inputs;
    }

    @Override
    public void close() {
        close.run();
    }
}
