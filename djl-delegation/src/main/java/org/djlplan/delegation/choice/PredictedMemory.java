package org.djlplan.delegation.choice;

import com.google.common.math.LongMath;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
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
 *   <li>weights that the CPU unpacks from 16 bits. Others it reads in the mapped file.
 * </ol>
 */
final class PredictedMemory {

    private static final long POINTER_BYTES = 8;

    private final DelegatedGraph delegated;
    private final Dataflow flow;
    private final List<Operator> operators;

    /** Of each operator, when it runs; the operators of a delegate kernel run at once. */
    private final int[] steps;

    private final Breadth arena;
    private final TreeMap<Integer, Breadth> workspaces = new TreeMap<>();

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

    private PredictedMemory(DelegatedGraph delegated) {
        this.delegated = delegated;
        this.flow = delegated.flow();
        this.operators = flow.graph().operators();
        this.steps = steps();
        this.arena = new Breadth(operators.size());
    }

    /** Returns the bytes. */
    static long bytes(DelegatedGraph delegated) {
        return new PredictedMemory(delegated).bytes();
    }

    private long bytes() {
        for (int id = 0; id < flow.graph().tensors().size(); id++) {
            if (flow.graph().tensors().get(id).storage() == Storage.INTERMEDIATE
                    && !flow.isConstantTensor(id)) {
                place(id);
            }
        }
        long bytes = 0;
        TreeMap<Integer, BitSet> kernels = new TreeMap<>();
        for (Operator operator : operators) {
            int index = operator.index();
            if (delegated.isDelegated(index)) {
                kernels.computeIfAbsent(delegated.epoch(index), epoch -> new BitSet()).set(index);
                bytes = LongMath.saturatedAdd(bytes, indirectionBytes(operator));
            } else if (flow.isConstantOperator(index)) {
                for (int id : flow.writes(index)) {
                    bytes += flow.bytes(id);
                }
            } else {
                arena.add(steps[index], steps[index], columnBytes(operator));
            }
        }
        for (BitSet kernel : kernels.values()) {
            kernel.stream().filter(flow::isConstantOperator).forEach(kernel::clear);
            bytes += flow.weightBytes(kernel);
        }
        for (Breadth workspace : workspaces.values()) {
            bytes += workspace.maximum();
        }
        return LongMath.saturatedAdd(bytes, arena.maximum());
    }

    private void place(int tensor) {
        int[] writers = flow.writers(tensor);
        int[] readers = flow.readers(tensor);
        if (writers.length == 0 && readers.length == 0) {
            return;
        }
        int first = writers.length == 0 ? 0 : writers[0];
        boolean inside = writers.length > 0 && !flow.isResult(tensor);
        int start = writers.length == 0 ? 0 : steps[first];
        int end = flow.isResult(tensor) ? operators.size() - 1 : start;
        int last = first;
        for (int reader : readers) {
            inside &= delegated.inSameKernel(first, reader);
            end = Math.max(end, steps[reader]);
            last = Math.max(last, reader);
        }
        if (inside && delegated.isDelegated(first)) {
            workspaces
                    .computeIfAbsent(delegated.epoch(first), epoch -> new Breadth(operators.size()))
                    .add(first, last, flow.bytes(tensor));
        } else {
            arena.add(start, end, flow.bytes(tensor));
        }
    }

    private int[] steps() {
        int[] nodes = new int[operators.size() + 2];
        for (int i = 0; i < operators.size(); i++) {
            int epoch = delegated.epoch(i);
            nodes[epoch + 1] = delegated.isDelegated(i) ? 1 : nodes[epoch + 1] + 1;
        }
        for (int epoch = 1; epoch < nodes.length; epoch++) {
            nodes[epoch] += nodes[epoch - 1];
        }
        int[] of = new int[operators.size()];
        for (int i = 0; i < of.length; i++) {
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
