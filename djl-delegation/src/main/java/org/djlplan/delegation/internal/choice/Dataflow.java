package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkPositionIndex;

import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The data flow of a graph: writers and readers of each tensor, constants, and the delegate kernels
 * that TensorFlow Lite makes of delegated operators.
 *
 * <p>A <em>constant operator</em> is a {@code DEQUANTIZE} or {@code DENSIFY} of a constant, or of
 * another constant operator's output: it unpacks weights once and does not run again. Its output
 * counts as a constant.
 */
public final class Dataflow {

    private static final ImmutableSet<String> UNPACKING = ImmutableSet.of("DEQUANTIZE", "DENSIFY");

    private final Graph graph;
    private final BitSet constantTensors = new BitSet();
    private final BitSet constantOperators = new BitSet();
    private final BitSet results = new BitSet();
    private final int[][] reads;
    private final int[][] writes;
    private final int[][] readers;
    private final int[][] writers;

    private Dataflow(Graph graph) {
        this.graph = graph;
        for (Tensor tensor : graph.tensors()) {
            constantTensors.set(tensor.id(), tensor.storage() == Storage.CONSTANT);
        }
        graph.outputs().forEach(results::set);
        reads = distinct(graph.operators().stream().map(Operator::inputs));
        writes = distinct(graph.operators().stream().map(Operator::outputs));
        readers = inverse(reads, graph.tensors().size());
        writers = inverse(writes, graph.tensors().size());
        for (Operator operator : graph.operators()) {
            if (unpacks(operator)) {
                constantOperators.set(operator.index());
                operator.outputs().forEach(constantTensors::set);
            }
        }
    }

    /** Returns the data flow of a graph. */
    public static Dataflow of(Graph graph) {
        return new Dataflow(graph);
    }

    private boolean unpacks(Operator operator) {
        return UNPACKING.contains(operator.type())
                && !operator.inputs().isEmpty()
                && operator.inputs().stream().allMatch(constantTensors::get);
    }

    /**
     * Returns whether a set of operators includes a constant operator whose output is also read by
     * other operators or the caller.
     */
    public static boolean splitsConstants(Graph graph, Set<Integer> operators) {
        if (operators.isEmpty()
                || operators.size() == graph.operators().size()
                || graph.operators().stream().noneMatch(each -> UNPACKING.contains(each.type()))) {
            return false;
        }
        Dataflow flow = of(graph);
        BitSet some = new BitSet();
        operators.forEach(some::set);
        BitSet unpacking = (BitSet) flow.constantOperators.clone();
        unpacking.and(some);
        return unpacking.stream()
                .flatMap(operator -> IntStream.of(flow.writes[operator]))
                .anyMatch(tensor -> flow.isReadOutside(tensor, some));
    }

    private static int[][] distinct(Stream<List<Integer>> ids) {
        return ids.map(each -> each.stream().mapToInt(Integer::intValue).distinct().toArray())
                .toArray(int[][]::new);
    }

    private static int[][] inverse(int[][] tensorsOf, int tensors) {
        IntStream.Builder[] operators = new IntStream.Builder[tensors];
        for (int operator = 0; operator < tensorsOf.length; operator++) {
            for (int id : tensorsOf[operator]) {
                operators[id] = operators[id] == null ? IntStream.builder() : operators[id];
                operators[id].add(operator);
            }
        }
        return Stream.of(operators)
                .map(each -> each == null ? new int[0] : each.build().toArray())
                .toArray(int[][]::new);
    }

    /** Returns the graph. */
    public Graph graph() {
        return graph;
    }

    /** Returns whether an operator is a constant one. */
    public boolean isConstantOperator(int operator) {
        return constantOperators.get(operator);
    }

    /** Returns whether a tensor has the same content in every inference. */
    public boolean isConstantTensor(int tensor) {
        return constantTensors.get(tensor);
    }

    /**
     * Returns whether the output of an operator is read by at least one operator of a set, by no
     * other operators, and not by the caller.
     */
    public boolean isOnlyReadBy(int operator, BitSet some) {
        boolean read = false;
        for (int id : writes[operator]) {
            if (results.get(id)) {
                return false;
            }
            for (int reader : readers[id]) {
                if (!some.get(reader)) {
                    return false;
                }
                read = true;
            }
        }
        return read;
    }

    /** Returns whether a tensor is read by the caller or by an operator outside a set. */
    public boolean isReadOutside(int tensor, BitSet some) {
        return results.get(tensor) || !IntStream.of(readers[tensor]).allMatch(some::get);
    }

    /** Returns the tensors that an operator reads, each once. The array must not be modified. */
    public int[] reads(int operator) {
        return reads[operator];
    }

    /** Returns the tensors that an operator writes, each once. The array must not be modified. */
    public int[] writes(int operator) {
        return writes[operator];
    }

    /** Returns the operators that read a tensor, ascending. The array must not be modified. */
    public int[] readers(int tensor) {
        return readers[tensor];
    }

    /** Returns the operators that write a tensor, ascending. The array must not be modified. */
    public int[] writers(int tensor) {
        return writers[tensor];
    }

    /** Returns the bytes of a tensor, 0 if unknown. */
    public long bytes(int tensor) {
        return graph.tensors().get(tensor).bytes();
    }

    /**
     * Returns the delegate kernels that TensorFlow Lite makes of delegated operators, in the order
     * in which they run. A kernel need not be connected, and may have only constant operators.
     *
     * <p>The engine groups operators into epochs ({@code tensorflow/lite/graph_info.cc}, 2.6): the
     * first operator decides whether the first epoch belongs to the delegate or the CPU; an epoch
     * takes every operator of its side whose inputs come from this epoch or earlier ones; then the
     * other side has the next epoch. So
     *
     * <pre>
     * epoch(operator) = the first epoch of its side that is not before any epoch of its inputs
     * </pre>
     *
     * which one pass in execution order computes. An epoch of the delegate is one delegate kernel.
     *
     * @throws IndexOutOfBoundsException if the graph has no such operator
     */
    public ImmutableList<BitSet> kernels(BitSet delegated) {
        checkPositionIndex(delegated.length(), reads.length, "operators");
        int[] tensorEpochs = new int[graph.tensors().size()];
        boolean delegateFirst = delegated.get(0);
        Map<Integer, BitSet> kernels = new TreeMap<>();
        for (int operator = 0; operator < reads.length; operator++) {
            int epoch = 0;
            for (int id : reads[operator]) {
                epoch = Math.max(epoch, tensorEpochs[id]);
            }
            boolean delegatesEpoch = (epoch % 2 == 0) == delegateFirst;
            epoch += delegated.get(operator) == delegatesEpoch ? 0 : 1;
            for (int id : writes[operator]) {
                tensorEpochs[id] = epoch;
            }
            if (delegated.get(operator)) {
                kernels.computeIfAbsent(epoch, key -> new BitSet()).set(operator);
            }
        }
        return ImmutableList.copyOf(kernels.values());
    }

    /**
     * Returns the partitions that a delegate would report if it did not support some operators. A
     * partition may be split, because the engine partitions the rest again. A constant operator
     * stays only if all readers of its output do; if both sides need the output, the operator runs
     * in the CPU kernels.
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
        Dataflow flow = of(graph);
        BitSet left = new BitSet();
        partitions.forEach(partition -> partition.forEach(left::set));
        excluded.forEach(left::clear);
        // Backwards, because a constant operator may read another's output.
        for (int i = left.length() - 1; i >= 0; i = left.previousSetBit(i - 1)) {
            left.set(i, !flow.isConstantOperator(i) || flow.isOnlyReadBy(i, left));
        }
        return flow.kernels(left).stream()
                .sorted(Comparator.comparing(kernel -> kernel.nextSetBit(0)))
                .<Set<Integer>>map(
                        kernel ->
                                kernel.stream()
                                        .boxed()
                                        .collect(
                                                ImmutableSortedSet.toImmutableSortedSet(
                                                        Integer::compare)))
                .collect(ImmutableList.toImmutableList());
    }
}
