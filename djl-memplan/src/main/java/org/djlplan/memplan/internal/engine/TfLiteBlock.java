package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractSymbolBlock;
import ai.djl.nn.ParameterList;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.PlainModel;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** The block of a loaded model. Thread-safe. */
public final class TfLiteBlock extends AbstractSymbolBlock implements AutoCloseable {

    private final UnaryOperator<NDList> forward;
    private final Runnable close;
    private final PairList<String, Shape> inputs;
    private final PairList<String, Shape> outputs;

    /**
     * @param forward predicts: maps inputs to outputs
     * @param close frees the resources of {@code forward}; may be called more than once
     * @param inputs names and shapes of the inputs
     * @param outputs names and shapes of the outputs
     */
    public TfLiteBlock(
            UnaryOperator<NDList> forward,
            Runnable close,
            PairList<String, Shape> inputs,
            PairList<String, Shape> outputs) {
        this.forward = forward;
        this.close = close;
        this.inputs = inputs;
        this.outputs = outputs;
    }

    /**
     * Returns a block that runs a model in the engine's own memory.
     *
     * @param model closed with the block, and if it cannot run
     * @param manager of the model
     * @param ports names and order of inputs and outputs
     * @throws UnplannableException if DJL has no arrays for its inputs or outputs
     */
    public static TfLiteBlock plain(PlainModel model, NDManager manager, Ports ports)
            throws UnplannableException {
        try {
            requireTypes(model.inputs());
            requireTypes(model.outputs());
        } catch (UnplannableException e) {
            model.close();
            throw e;
        }
        return new TfLiteBlock(
                list -> ports.fromModel(forward(model, manager, ports.toModel(list))),
                model::close,
                ports.inputs(TfLiteTypes.description(model.inputs())),
                ports.outputs(TfLiteTypes.description(model.outputs())));
    }

    private static void requireTypes(List<TensorInfo> tensors) throws UnplannableException {
        for (TensorInfo tensor : tensors) {
            try {
                DataType unused = TfLiteTypes.dataType(tensor.type());
            } catch (IllegalStateException e) {
                throw new UnplannableException("tensor " + tensor.name() + ": " + e.getMessage());
            }
        }
    }

    private static NDList forward(PlainModel model, NDManager manager, NDList list) {
        InputShapes.requireCount(list.size(), model.inputs());
        List<ByteBuffer> values = new ArrayList<>(list.size());
        List<List<Integer>> shapes = new ArrayList<>(list.size());
        for (NDArray array : list) {
            values.add(value(manager, model.inputs().get(values.size()), array));
            shapes.add(
                    Longs.asList(array.getShape().getShape()).stream()
                            .map(Ints::checkedCast)
                            .toList());
        }
        NDList results = new NDList();
        for (OutputTensor output : model.run(values, shapes)) {
            TensorInfo info = output.info();
            results.add(
                    array(
                            manager,
                            output.data(),
                            TfLiteTypes.shape(info),
                            TfLiteTypes.dataType(info.type()),
                            info.name()));
        }
        results.attach(list.head().getManager());
        return results;
    }

    private static ByteBuffer value(NDManager manager, TensorInfo input, NDArray array) {
        TfLiteTypes.requireType(input, array);
        if (input.type() != ElementType.STRING) {
            return array.toByteBuffer();
        }
        // Strings of other engines do not have the format of a tensor.
        NDArray own = manager.from(array);
        ByteBuffer value = own.toByteBuffer();
        if (own != array) {
            own.close();
        }
        return value;
    }

    /**
     * Returns an array over a buffer in any memory. It must be attached to its user's manager.
     *
     * @param manager of a model
     */
    public static NDArray array(
            NDManager manager, ByteBuffer data, Shape shape, DataType type, String name) {
        BufferArray array = new BufferArray((BufferManager) manager, data, shape, type);
        array.setName(name);
        return array;
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore parameterStore,
            NDList list,
            boolean training,
            PairList<String, Object> params) {
        return forward.apply(list);
    }

    /** Returns none, because the weights are in the file. */
    @Override
    public ParameterList getDirectParameters() {
        return new ParameterList();
    }

    @Override
    public PairList<String, Shape> describeInput() {
        return inputs;
    }

    @Override
    public PairList<String, Shape> describeOutput() {
        return outputs;
    }

    @Override
    public void close() {
        close.run();
    }
}
