package org.djlplan.memplan.internal.measure;

import java.util.Collection;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.candidates.OperatorCheck;

/**
 * An upper estimate of the memory that a measuring process needs, computed from the model.
 *
 * @param heapBytes its Java heap: inputs, and the outputs of the CPU kernels with each number of
 *     threads
 * @param candidateBytes memory of one candidate: constants as packed by the delegate, and
 *     intermediate tensors
 */
record MemoryNeed(long heapBytes, long candidateBytes) {

    private static final long MIB = 1L << 20;

    /** The heap is touched at the start, so that it does not affect memory figures. */
    static final long LEAST_HEAP_BYTES = 48 * MIB;

    static final long MOST_HEAP_BYTES = 512 * MIB;

    /**
     * Number of sets of inputs and outputs: several of each are compared, for each number of
     * threads.
     */
    private static final int SETS = 32;

    /**
     * Copies of all tensors of models that are compared operator by operator: see {@link
     * OperatorCheck}.
     */
    private static final int COPIES_COMPARED = 4;

    /** Weights of a TorchScript module and of its rewritten copy. */
    private static final int COPIES_REWRITTEN = 2;

    /** Data of libtorch. */
    private static final long LIBTORCH_BYTES = 64 * MIB;

    /** Code and data of the JVM and the engine. */
    private static final long PROCESS_BYTES = 80 * MIB;

    /**
     * Number of candidates for which there must be room: the CPU kernels, everything delegated, and
     * another one. Further candidates run only if there is room.
     */
    static final int CANDIDATES = 3;

    private static final int FLOAT_BYTES = ElementType.FLOAT32.bytes();

    /**
     * Returns the need of a TensorFlow Lite model.
     *
     * @param growth the factor by which inputs are larger than in the file; weights do not grow
     */
    static MemoryNeed of(Graph graph, double growth) {
        long ends = bytes(graph, graph.inputs()) + bytes(graph, graph.outputs());
        long compared = OperatorCheck.bytes(graph).orElse(0);
        double values = growth * (SETS * ends + COPIES_COMPARED * compared);
        long heap = Math.min(MOST_HEAP_BYTES, LEAST_HEAP_BYTES + (long) values);
        long constants =
                graph.tensors().stream()
                        .filter(tensor -> tensor.storage() == Storage.CONSTANT)
                        .mapToLong(MemoryNeed::packedBytes)
                        .sum();
        // Live tensors rarely take more than twice the memory of the largest operator.
        long arena =
                2
                        * graph.operators().stream()
                                .mapToLong(o -> tensorBytes(graph, o))
                                .max()
                                .orElse(0);
        // Three of these hold as much as the delegate's values and the copies that the CPU kernels
        // get.
        return new MemoryNeed(
                heap - heap % MIB, constants + (long) (growth * Math.max(arena, compared)));
    }

    /**
     * Returns the need of a TorchScript model, whose operators are unknown: intermediates are
     * assumed to take as much as many inputs.
     *
     * @param fileBytes size of the model's file
     * @param inputBytes size of the inputs of all measured shapes
     */
    static MemoryNeed ofTorchScript(long fileBytes, long inputBytes) {
        long heap = Math.min(MOST_HEAP_BYTES, LEAST_HEAP_BYTES + SETS * inputBytes);
        return new MemoryNeed(
                heap - heap % MIB,
                COPIES_REWRITTEN * fileBytes + LIBTORCH_BYTES + SETS * inputBytes);
    }

    private static long bytes(Graph graph, Collection<Integer> ids) {
        return ids.stream().mapToLong(id -> graph.tensors().get(id).bytes()).sum();
    }

    private static long tensorBytes(Graph graph, Operator operator) {
        return Stream.concat(operator.inputs().stream(), operator.outputs().stream())
                .map(graph.tensors()::get)
                .filter(tensor -> tensor.storage() != Storage.CONSTANT)
                .mapToLong(Tensor::bytes)
                .sum();
    }

    /** CPU kernels widen 16-bit floats to 32 bits, and 4-bit integers to bytes. */
    private static long packedBytes(Tensor constant) {
        return switch (constant.type()) {
            case FLOAT16 -> constant.bytes() / constant.type().bytes() * FLOAT_BYTES;
            case INT4 -> 2 * constant.region().map(FileRegion::lengthBytes).orElse(0L);
            default -> constant.bytes();
        };
    }

    /** Returns how many bytes must be free before a process is started. */
    long bytes() {
        return PROCESS_BYTES + heapBytes + CANDIDATES * candidateBytes;
    }
}
