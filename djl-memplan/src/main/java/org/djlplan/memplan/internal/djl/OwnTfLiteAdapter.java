package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.util.PairList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.engine.Ports;
import org.djlplan.memplan.internal.engine.TfLiteBlock;
import org.djlplan.memplan.internal.engine.TfLiteEngineModel;
import org.djlplan.memplan.internal.engine.TfLiteTypes;
import org.djlplan.memplan.internal.runtime.tflite.PlainModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;

/** The adapter for djl-plan's own engine "TFLite". */
final class OwnTfLiteAdapter implements TfLiteAdapter {

    private final int threads;
    private final Ports ports;

    OwnTfLiteAdapter(TfLiteEngineModel model) {
        threads = model.threads();
        ports = model.ports();
    }

    @Override
    public Block planned(
            UnaryOperator<NDList> forward,
            Runnable close,
            PairList<String, Shape> inputs,
            PairList<String, Shape> outputs) {
        return new TfLiteBlock(forward, close, ports.inputs(inputs), ports.outputs(outputs));
    }

    @Override
    public Block stock(Path file, NDManager manager) {
        try {
            return TfLiteBlock.plain(PlainModel.open(file, threads), manager, ports);
        } catch (IOException | UnplannableException e) {
            throw new IllegalStateException("cannot load " + file + " again", e);
        }
    }

    @Override
    public NDList toModel(NDList inputs) {
        return ports.toModel(inputs);
    }

    @Override
    public NDList fromModel(NDList outputs) {
        return ports.fromModel(outputs);
    }

    @Override
    public NDArray array(
            NDManager manager, ByteBuffer data, Shape shape, DataType type, String name) {
        return TfLiteBlock.array(manager, data, shape, type, name);
    }

    @Override
    public DataType dataType(ElementType type) {
        return TfLiteTypes.dataType(type);
    }
}
