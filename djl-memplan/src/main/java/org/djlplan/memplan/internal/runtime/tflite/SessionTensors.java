package org.djlplan.memplan.internal.runtime.tflite;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToLongFunction;
import org.djlplan.memplan.errors.UnsoundModelException;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * The inputs and outputs of an allocated session. They lie in the engine's memory, except the
 * outputs that a plan places.
 */
final class SessionTensors {

    /** An output and its place: in the engine's memory, or at an offset in the arena. */
    private record Output(TensorInfo info, Optional<ByteBuffer> memory, long offsetBytes) {}

    private final ImmutableList<TensorInfo> inputInfos;
    private final ImmutableList<TensorInfo> outputInfos;
    private final ImmutableList<ByteBuffer> inputs;
    private final ImmutableList<Output> outputs;

    /**
     * @param file the graph in the file
     * @param tensors the session's tensors
     * @param offsets offsets in the arena of the outputs that djl-plan places, by output number
     */
    SessionTensors(Graph file, List<LiveTensor> tensors, IntToLongFunction offsets) {
        inputInfos = infos(file, file.inputs(), tensors);
        outputInfos = infos(file, file.outputs(), tensors);
        ImmutableList.Builder<ByteBuffer> memory = ImmutableList.builder();
        file.inputs().forEach(id -> memory.add(memory(tensors.get(id))));
        inputs = memory.build();
        ImmutableList.Builder<Output> found = ImmutableList.builder();
        for (int i = 0; i < outputInfos.size(); i++) {
            LiveTensor tensor = tensors.get(file.outputs().get(i));
            TensorInfo info = outputInfos.get(i);
            found.add(
                    tensor.ours() && tensor.bytes() > 0
                            ? new Output(info, Optional.empty(), offsets.applyAsLong(i))
                            : new Output(info, Optional.of(memory(tensor)), 0));
        }
        outputs = found.build();
    }

    private static ImmutableList<TensorInfo> infos(
            Graph file, List<Integer> ids, List<LiveTensor> tensors) {
        ImmutableList.Builder<TensorInfo> infos = ImmutableList.builder();
        for (int id : ids) {
            Tensor declared = file.tensors().get(id);
            LiveTensor live = tensors.get(id);
            infos.add(new TensorInfo(declared.name(), declared.type(), live.shape(), live.bytes()));
        }
        return infos.build();
    }

    /**
     * Returns the current memory of a tensor.
     *
     * @throws UnsoundModelException if it is larger than a buffer can be
     */
    static ByteBuffer memory(LiveTensor tensor) {
        if (tensor.bytes() == 0 || tensor.address() == 0) {
            return ByteBuffer.allocate(0);
        }
        if (tensor.bytes() > Integer.MAX_VALUE) {
            throw new UnsoundModelException(
                    "an input or output of shape " + tensor.shape() + " is larger than 2 GiB");
        }
        return new Pointer(tensor.address())
                .getByteBuffer(0, tensor.bytes())
                .order(ByteOrder.nativeOrder());
    }

    ImmutableList<TensorInfo> inputInfos() {
        return inputInfos;
    }

    ImmutableList<TensorInfo> outputInfos() {
        return outputInfos;
    }

    /** Writes the values of the inputs. */
    void fill(List<ByteBuffer> values) {
        for (int i = 0; i < values.size(); i++) {
            fill(i, values.get(i));
        }
    }

    /** Writes the value of one input. */
    void fill(int input, ByteBuffer value) {
        inputs.get(input).rewind().put(value.duplicate());
    }

    /**
     * Returns copies of the outputs.
     *
     * @param arena the arena in which the session ran; needed only if the plan places outputs
     */
    List<OutputTensor> results(Optional<Arena> arena) {
        List<OutputTensor> results = new ArrayList<>(outputs.size());
        for (Output output : outputs) {
            // On the heap: fresh native memory would cost page faults with every prediction.
            byte[] copy = new byte[Ints.checkedCast(output.info().bytes())];
            if (output.memory().isPresent()) {
                output.memory().get().get(0, copy);
            } else {
                arena.orElseThrow().address().read(output.offsetBytes(), copy, 0, copy.length);
            }
            results.add(
                    new OutputTensor(
                            output.info(), ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder())));
        }
        return results;
    }
}
