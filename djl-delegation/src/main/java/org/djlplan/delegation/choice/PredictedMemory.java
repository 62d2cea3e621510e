package org.djlplan.delegation.choice;

import com.google.common.math.LongMath;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.partition.DelegatedGraph;
import org.djlplan.delegation.partition.Flops;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;

/**
 * The anonymous memory that a graph takes of which some operators are delegated, estimated from
 * sizes:
 *
 * <ol>
 *   <li>the engine's arena: the maximum breadth of the tensors that are not inside one delegate
 *       kernel, in the order in which the engine runs what became of the graph, with the columns
 *       that the CPU's convolutions copy their input to;
 *   <li>of each delegate kernel its workspace: the maximum breadth of the tensors inside it;
 *   <li>of each delegate kernel the weights, which it packs, and XNNPACK's indirection buffers: one
 *       pointer per pixel of the output and tap of the filter;
 *   <li>what constant operators unpack: the CPU's kernels and XNNPACK both keep it. Other weights
 *       the CPU reads in the mapped file.
 * </ol>
 */
final class PredictedMemory {

    private static final long POINTER_BYTES = 8;

    private final Dataflow flow;

    /** Of each operator in a CPU kernel, bytes of its columns. */
    private final long[] columnBytes;

    /** Of each operator in a delegate kernel, bytes of its indirection buffer. */
    private final long[] indirectionBytes;

    private final long unpackedBytes;

    /** Sums up sizes over intervals. */
    private static final class Breadth {
        private final long[] changes;

        Breadth(int steps) {
            changes = new long[steps + 1];
        }

        void add(int first, int last, long bytes) {
            changes[first] = LongMath.saturatedAdd(changes[first], bytes);
            changes[last + 1] = LongMath.saturatedSubtract(changes[last + 1], bytes);
        }

        long maximum() {
            long now = 0;
            long most = 0;
            for (long change : changes) {
                now = LongMath.saturatedAdd(now, change);
                most = Math.max(most, now);
            }
            return most;
        }
    }

    /**
     * @param flow the data flow of the graph
     */
    PredictedMemory(Dataflow flow) {
        this.flow = flow;
        List<Operator> operators = flow.graph().operators();
        columnBytes = operators.stream().mapToLong(this::columnBytes).toArray();
        indirectionBytes = operators.stream().mapToLong(this::indirectionBytes).toArray();
        unpackedBytes =
                IntStream.range(0, operators.size())
                        .filter(flow::isConstantOperator)
                        .flatMap(i -> IntStream.of(flow.writes(i)))
                        .mapToLong(flow::bytes)
                        .reduce(0, LongMath::saturatedAdd);
    }

    /** Returns the bytes when some operators are delegated. */
    long bytes(DelegatedGraph delegated) {
        int count = columnBytes.length;
        int[] steps = steps(delegated);
        Breadth arena = new Breadth(count);
        TreeMap<Integer, Breadth> workspaces = new TreeMap<>();
        for (int id = 0; id < flow.graph().tensors().size(); id++) {
            if (flow.graph().tensors().get(id).storage() == Storage.INTERMEDIATE
                    && !flow.isConstantTensor(id)) {
                if (isInside(id, delegated)) {
                    int writer = flow.writers(id)[0];
                    workspaces
                            .computeIfAbsent(delegated.epoch(writer), e -> new Breadth(count))
                            .add(writer, lastOf(flow.readers(id), writer), flow.bytes(id));
                } else {
                    place(id, steps, arena);
                }
            }
        }
        long bytes = LongMath.saturatedAdd(unpackedBytes, packedBytes(delegated));
        for (int i = 0; i < count; i++) {
            if (delegated.isDelegated(i)) {
                bytes = LongMath.saturatedAdd(bytes, indirectionBytes[i]);
            } else {
                arena.add(steps[i], steps[i], columnBytes[i]);
            }
        }
        for (Breadth workspace : workspaces.values()) {
            bytes = LongMath.saturatedAdd(bytes, workspace.maximum());
        }
        return LongMath.saturatedAdd(bytes, arena.maximum());
    }

    /** Each kernel packs the weights that it reads. */
    private long packedBytes(DelegatedGraph delegated) {
        long bytes = 0;
        BitSet kernels = new BitSet();
        for (int id = 0; id < flow.graph().tensors().size(); id++) {
            if (flow.isConstantTensor(id)) {
                kernels.clear();
                for (int reader : flow.readers(id)) {
                    if (delegated.isDelegated(reader) && !flow.isConstantOperator(reader)) {
                        kernels.set(delegated.epoch(reader));
                    }
                }
                long each = flow.bytes(id);
                bytes =
                        LongMath.saturatedAdd(
                                bytes, LongMath.saturatedMultiply(each, kernels.cardinality()));
            }
        }
        return bytes;
    }

    /** Whether one delegate kernel has everything that touches a tensor. */
    private boolean isInside(int tensor, DelegatedGraph delegated) {
        int[] writers = flow.writers(tensor);
        if (writers.length == 0 || flow.isResult(tensor) || !delegated.isDelegated(writers[0])) {
            return false;
        }
        for (int reader : flow.readers(tensor)) {
            if (!delegated.inSameKernel(writers[0], reader)) {
                return false;
            }
        }
        return true;
    }

    private void place(int tensor, int[] steps, Breadth arena) {
        int[] writers = flow.writers(tensor);
        int[] readers = flow.readers(tensor);
        if (writers.length == 0 && readers.length == 0) {
            return;
        }
        // What the caller fills is there from the start.
        int first = writers.length == 0 ? 0 : steps[writers[0]];
        int last = first;
        for (int reader : readers) {
            last = Math.max(last, steps[reader]);
        }
        arena.add(first, flow.isResult(tensor) ? steps.length - 1 : last, flow.bytes(tensor));
    }

    private static int lastOf(int[] ascending, int otherwise) {
        return ascending.length == 0 ? otherwise : ascending[ascending.length - 1];
    }

    /** Returns when each operator runs; the operators of a delegate kernel run at once. */
    private static int[] steps(DelegatedGraph delegated) {
        int count = delegated.flow().graph().operators().size();
        int[] nodes = new int[count + 2];
        for (int i = 0; i < count; i++) {
            int epoch = delegated.epoch(i);
            nodes[epoch + 1] = delegated.isDelegated(i) ? 1 : nodes[epoch + 1] + 1;
        }
        for (int epoch = 1; epoch < nodes.length; epoch++) {
            nodes[epoch] += nodes[epoch - 1];
        }
        int[] of = new int[count];
        for (int i = 0; i < count; i++) {
            int epoch = delegated.epoch(i);
            of[i] = delegated.isDelegated(i) ? nodes[epoch] : nodes[epoch]++;
        }
        return of;
    }

    /** A convolution with more than one tap copies what it multiplies the filter with. */
    private long columnBytes(Operator operator) {
        if (!operator.type().equals("CONV_2D")
                || operator.outputs().isEmpty()
                || Flops.taps(flow.graph(), operator) == 1) {
            return 0;
        }
        int output = operator.outputs().get(0);
        List<Integer> shape = flow.graph().tensors().get(output).shape();
        int channels = shape.isEmpty() ? 1 : Math.max(1, shape.get(shape.size() - 1));
        int elementBytes = flow.graph().tensors().get(output).type().bytes();
        return Flops.of(flow.graph(), operator) / 2 / channels * elementBytes;
    }

    private long indirectionBytes(Operator operator) {
        long taps = Flops.taps(flow.graph(), operator);
        List<Integer> shape =
                operator.outputs().isEmpty()
                        ? List.of()
                        : flow.graph().tensors().get(operator.outputs().get(0)).shape();
        return taps == 1 || shape.size() != 4
                ? 0
                : LongMath.saturatedMultiply(
                        POINTER_BYTES * taps,
                        (long) Math.max(0, shape.get(1)) * Math.max(0, shape.get(2)));
    }
}
