package org.djlplan.memplan.internal.runtime.tflite;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.Buffers;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.Allocation;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** An interpreter of the engine in the engine's own memory. Not thread-safe. */
final class PlainInterpreter implements AutoCloseable {

    private final EngineSession session;
    private final Graph file;

    /** Separate from the shapes, because a model without inputs has none. */
    private boolean allocated;

    private List<List<Integer>> shapes = List.of();
    private ImmutableList<OutputTensor> inputs;
    private ImmutableList<OutputTensor> outputs;

    /**
     * Whether sizes become known only while it runs; then any tensor may have moved after a run.
     */
    private boolean dynamic;

    /** Anything may lie elsewhere since a prediction that failed. */
    private boolean moved;

    /**
     * Creates an interpreter that is allocated when its shapes are known.
     *
     * @param session one of {@link EngineSession.Spec#stock}
     * @param file the graph in the file
     */
    PlainInterpreter(EngineSession session, Graph file) {
        this.session = session;
        this.file = file;
    }

    /**
     * Allocates it for the shapes in the file. If that fails, the session is closed.
     *
     * @throws UnplannableException if the engine cannot prepare the model
     */
    void allocate() throws UnplannableException {
        try {
            session.allocate();
            look();
            allocated = true;
        } catch (RuntimeException | Error e) {
            session.close();
            if (e instanceof IllegalStateException) {
                throw new UnplannableException(e.getMessage());
            }
            throw e;
        }
        shapes = inputs.stream().map(input -> input.info().shape()).toList();
    }

    /** Finds the inputs and outputs, which move with every allocation. */
    private void look() {
        List<LiveTensor> tensors = session.tensors();
        inputs = memory(file.inputs(), tensors);
        outputs = memory(file.outputs(), tensors);
        dynamic = tensors.stream().anyMatch(t -> t.allocation() == Allocation.DYNAMIC);
        moved = false;
    }

    private ImmutableList<OutputTensor> memory(List<Integer> ids, List<LiveTensor> tensors) {
        ImmutableList.Builder<OutputTensor> found = ImmutableList.builder();
        for (int id : ids) {
            LiveTensor live = tensors.get(id);
            Tensor declared = file.tensors().get(id);
            found.add(
                    new OutputTensor(
                            new TensorInfo(
                                    declared.name(), declared.type(), live.shape(), live.bytes()),
                            SessionTensors.memory(live)));
        }
        return found.build();
    }

    /** Returns the inputs as they are allocated now. */
    ImmutableList<TensorInfo> inputs() {
        return infos(inputs);
    }

    /** Returns the outputs as they are allocated now. */
    ImmutableList<TensorInfo> outputs() {
        return infos(outputs);
    }

    private static ImmutableList<TensorInfo> infos(List<OutputTensor> tensors) {
        return ImmutableList.copyOf(tensors.stream().map(OutputTensor::info).toList());
    }

    /**
     * Allocates it for inputs of these shapes, unless it is. If that fails, it is only good for
     * closing.
     *
     * @throws IllegalStateException if the engine fails
     */
    void resize(List<List<Integer>> wanted) {
        if (!allocated || !shapes.equals(wanted)) {
            for (int i = 0; i < wanted.size(); i++) {
                session.resize(i, wanted.get(i));
            }
            session.allocate();
            look();
            allocated = true;
            shapes = wanted;
        }
    }

    /**
     * Predicts once. If that fails, it can predict again.
     *
     * @param values the inputs, as long as the shapes for which it is allocated say
     * @throws IllegalStateException if the engine fails
     */
    List<OutputTensor> run(List<ByteBuffer> values) {
        if (moved) {
            look();
        }
        for (int i = 0; i < values.size(); i++) {
            fill(i, values.get(i).duplicate());
        }
        moved = dynamic;
        session.invokeStock();
        if (moved) {
            look();
        }
        List<OutputTensor> results = new ArrayList<>(outputs.size());
        for (OutputTensor output : outputs) {
            results.add(
                    new OutputTensor(
                            output.info(), Buffers.copy(output.data().duplicate().rewind())));
        }
        return results;
    }

    private void fill(int input, ByteBuffer value) {
        if (inputs.get(input).info().type() == ElementType.STRING) {
            byte[] strings = new byte[value.remaining()];
            value.get(strings);
            session.fill(input, strings);
        } else {
            inputs.get(input).data().rewind().put(value);
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
