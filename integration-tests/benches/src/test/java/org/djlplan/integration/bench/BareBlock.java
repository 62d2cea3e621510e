package org.djlplan.integration.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * The cheapest possible block of DJL over TensorFlow Lite's C interface: it copies inputs to one
 * interpreter, resizes that for other shapes, and copies outputs from it.
 */
public final class BareBlock extends AbstractBlock {

    private final BareInterpreter interpreter;
    private final DataType type;
    private Optional<Shape> last = Optional.empty();

    /**
     * @param type of all outputs
     */
    public BareBlock(BareInterpreter interpreter, DataType type) {
        this.interpreter = interpreter;
        this.type = type;
    }

    @Override
    protected synchronized NDList forwardInternal(
            ParameterStore store,
            NDList inputs,
            boolean training,
            PairList<String, Object> params) {
        Shape shape = inputs.head().getShape();
        if (!last.equals(Optional.of(shape))) {
            interpreter.resize(Ints.toArray(Longs.asList(shape.getShape())));
        }
        last = Optional.of(shape);
        interpreter.setInputs(inputs.stream().map(NDArray::toByteBuffer).toList());
        interpreter.run();
        NDManager manager = inputs.head().getManager();
        NDList results = new NDList();
        for (ByteBuffer output : interpreter.outputs()) {
            results.add(manager.create(output, shape(output), type));
        }
        return results;
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputs) {
        List<ByteBuffer> outputs = interpreter.outputs();
        return IntStream.range(0, outputs.size())
                .mapToObj(i -> shape(outputs.get(i)))
                .toArray(Shape[]::new);
    }

    private Shape shape(ByteBuffer output) {
        return new Shape(output.capacity() / type.getNumOfBytes());
    }
}
