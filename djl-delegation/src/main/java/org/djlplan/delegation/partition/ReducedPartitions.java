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
 * The partitions that a delegate would report if it did not take some of its operators. A partition
 * may fall into several, as the engine divides what is left anew ({@link DelegatedGraph}).
 *
 * <p>A constant operator is left only if everything that reads its output is: one that both sides
 * need runs in the CPU kernels.
 */
public final class ReducedPartitions {

    private ReducedPartitions() {}

    /**
     * Returns what is left of partitions.
     *
     * @param partitions what the delegate reports: disjoint sets of operators
     * @param excluded operators that it is not to get, whether it reports them or not
     * @return disjoint sets, in execution order of their first operator; the same as were given if
     *     nothing is excluded
     * @throws IndexOutOfBoundsException if the graph has no such operator
     */
    public static List<Set<Integer>> of(
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
