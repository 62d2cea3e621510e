package org.djlplan.delegation.internal.partition;

import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * A graph with delegated operators: the delegate kernels that TensorFlow Lite makes of them, and
 * the order in which operators run.
 *
 * <p>The engine groups operators into epochs ({@code tensorflow/lite/graph_info.cc}, 2.6): the
 * first operator decides whether the first epoch belongs to the delegate or the CPU; an epoch takes
 * every operator of its side whose inputs come from this epoch or earlier ones; then the other side
 * has the next epoch. So
 *
 * <pre>
 * epoch(operator) = the first epoch of its side that is not before any epoch of its inputs
 * </pre>
 *
 * which one pass in execution order computes. An epoch of the delegate is one delegate kernel and
 * need not be connected.
 */
public final class DelegatedGraph {

    private final Dataflow flow;
    private final BitSet delegated;
    private final int[] epochs;

    /** For each epoch, whether it has an operator that is not constant. */
    private final BitSet working = new BitSet();

    /**
     * @param flow the data flow of the graph
     * @param delegated indices of the operators that go to the delegate
     */
    public DelegatedGraph(Dataflow flow, BitSet delegated) {
        this.flow = flow;
        this.delegated = (BitSet) delegated.clone();
        int count = flow.graph().operators().size();
        epochs = new int[count];
        int[] tensorEpochs = new int[flow.graph().tensors().size()];
        boolean delegateFirst = delegated.get(0);
        for (int operator = 0; operator < count; operator++) {
            int epoch = 0;
            for (int id : flow.reads(operator)) {
                epoch = Math.max(epoch, tensorEpochs[id]);
            }
            boolean delegatesEpoch = (epoch % 2 == 0) == delegateFirst;
            epochs[operator] = delegated.get(operator) == delegatesEpoch ? epoch : epoch + 1;
            for (int id : flow.writes(operator)) {
                tensorEpochs[id] = epochs[operator];
            }
            if (delegated.get(operator) && !flow.isConstantOperator(operator)) {
                working.set(epochs[operator]);
            }
        }
    }

    /** Returns the data flow of the graph. */
    public Dataflow flow() {
        return flow;
    }

    /** Returns whether an operator goes to the delegate. */
    public boolean isDelegated(int operator) {
        return delegated.get(operator);
    }

    /**
     * Returns the epoch of an operator. Earlier epochs run first; within an epoch the CPU's
     * operators run in their order, and the delegate's in one kernel.
     */
    public int epoch(int operator) {
        return epochs[operator];
    }

    /** Returns the number of delegate kernels that run in an inference. */
    public int kernels() {
        return working.cardinality();
    }

    /** Returns whether two operators are in the same delegate kernel. */
    public boolean inSameKernel(int operator, int other) {
        return delegated.get(operator) && delegated.get(other) && epochs[operator] == epochs[other];
    }

    /**
     * Returns the bytes that enter and leave delegate kernels in one inference: each tensor once
     * for every kernel that it enters and once if it leaves one. No constants.
     */
    public long crossingBytes() {
        long bytes = 0;
        for (int id = 0; id < flow.graph().tensors().size(); id++) {
            if (!flow.isConstantTensor(id)) {
                bytes += flow.bytes(id) * crossings(id);
            }
        }
        return bytes;
    }

    private int crossings(int tensor) {
        int[] readers = flow.readers(tensor);
        int[] writers = flow.writers(tensor);
        int writer = writers.length == 0 ? -1 : writers[writers.length - 1];
        boolean fromKernel = writer >= 0 && delegated.get(writer);
        boolean leaves = fromKernel && flow.isResult(tensor);
        int entered = 0;
        for (int i = 0; i < readers.length; i++) {
            if (fromKernel && inSameKernel(readers[i], writer)) {
                continue;
            }
            leaves |= fromKernel;
            entered += delegated.get(readers[i]) && firstOfItsKernel(readers, i) ? 1 : 0;
        }
        return entered + (leaves ? 1 : 0);
    }

    private boolean firstOfItsKernel(int[] operators, int place) {
        for (int i = 0; i < place; i++) {
            if (inSameKernel(operators[i], operators[place])) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the partitions that a delegate would report if it did not support some operators. A
     * partition may be split, because the engine partitions the rest again. A constant operator is
     * removed only if all readers of its output are; if both sides need it, it runs in the CPU
     * kernels.
     *
     * @param partitions reported by the delegate: disjoint sets of operators
     * @param excluded operators that the delegate must not get, reported or not
     * @return disjoint sets, in execution order of their first operator; unchanged if nothing is
     *     excluded
     * @throws IndexOutOfBoundsException if the graph has no such operator
     */
    public static List<Set<Integer>> partitionsWithout(
            Graph graph, List<Set<Integer>> partitions, Set<Integer> excluded) {
        if (excluded.isEmpty()) {
            return ImmutableList.copyOf(partitions);
        }
        Dataflow flow = Dataflow.of(graph);
        BitSet left = new BitSet();
        partitions.forEach(partition -> partition.forEach(left::set));
        excluded.forEach(left::clear);
        // Backwards, because a constant operator may read another's output.
        for (int i = left.length() - 1; i >= 0; i = left.previousSetBit(i - 1)) {
            left.set(i, !flow.isConstantOperator(i) || flow.isOnlyReadBy(i, left));
        }
        DelegatedGraph delegated = new DelegatedGraph(flow, left);
        Map<Integer, ImmutableSortedSet.Builder<Integer>> kernels = new TreeMap<>();
        left.stream()
                .forEach(
                        i ->
                                kernels.computeIfAbsent(
                                                delegated.epoch(i),
                                                epoch -> ImmutableSortedSet.naturalOrder())
                                        .add(i));
        return kernels.values().stream()
                .<Set<Integer>>map(ImmutableSortedSet.Builder::build)
                .sorted(Comparator.comparing(set -> set.iterator().next()))
                .collect(ImmutableList.toImmutableList());
    }
}
