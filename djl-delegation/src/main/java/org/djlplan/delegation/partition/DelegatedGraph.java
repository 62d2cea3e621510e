package org.djlplan.delegation.partition;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.djlplan.memplan.graph.Graph;

/**
 * A graph of which some operators go to a delegate: the delegate kernels that TensorFlow Lite makes
 * of them, and when each operator runs.
 *
 * <p>The engine gathers operators in epochs ({@code tensorflow/lite/graph_info.cc}, 2.6): the first
 * operator decides whether the first epoch is the delegate's or the CPU's; an epoch takes every
 * operator of its side whose inputs come from this epoch or earlier ones; then the other side has
 * the next epoch. So
 *
 * <pre>
 *   epoch(operator) = the first one of its side that is not before any epoch of its inputs
 * </pre>
 *
 * which one pass in execution order computes. An epoch of the delegate is one delegate kernel and
 * need not be connected.
 */
public final class DelegatedGraph {

    private final Dataflow flow;
    private final BitSet delegated;
    private final int[] epochs;

    /** Of each epoch, whether it has an operator that is not constant. */
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
     * Returns when an operator runs: an earlier epoch runs before a later one, the CPU's operators
     * of one epoch in their order, the delegate's of one epoch in one kernel.
     */
    public int epoch(int operator) {
        return epochs[operator];
    }

    /** Returns the number of delegate kernels that do anything in an inference. */
    public int kernels() {
        return working.cardinality();
    }

    /** Returns whether two operators are in the same delegate kernel. */
    public boolean inSameKernel(int operator, int other) {
        return delegated.get(operator) && delegated.get(other) && epochs[operator] == epochs[other];
    }

    /**
     * Returns the bytes that delegate kernels take in and give out in one inference: each tensor
     * once for every kernel that it enters and once if it leaves one. No constants.
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
     * Returns the partitions that a delegate would report if it did not take some of its operators.
     * A partition may fall into several, as the engine divides what is left anew. A constant
     * operator is left only if everything that reads its output is: one that both sides need runs
     * in the CPU kernels.
     *
     * @param partitions what the delegate reports: disjoint sets of operators
     * @param excluded operators that it is not to get, whether it reports them or not
     * @return disjoint sets, in execution order of their first operator; the same as were given if
     *     nothing is excluded
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
        // Backwards, as a constant operator may read another's output.
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
