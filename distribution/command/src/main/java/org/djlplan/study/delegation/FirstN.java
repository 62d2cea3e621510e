package org.djlplan.study.delegation;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * TensorFlow Lite's own rule, for comparison: it delegates the N partitions with the most nodes
 * ({@code GraphPartitionHelper::GetFirstNLargestPartitions}). The rule ignores the duration of
 * nodes.
 */
public final class FirstN {

    private FirstN() {}

    /**
     * Returns the operators that the rule delegates.
     *
     * @param partitions in execution order; of equally large ones the earlier one counts as larger
     * @param count {@code max_delegated_partitions}: the limit, 0 for all
     */
    public static SortedSet<Integer> operators(List<? extends Set<Integer>> partitions, int count) {
        checkArgument(count >= 0, "count: %s", count);
        return partitions.stream()
                .sorted(Comparator.comparing(Set<Integer>::size).reversed())
                .limit(count == 0 ? partitions.size() : count)
                .flatMap(Collection::stream)
                .collect(ImmutableSortedSet.toImmutableSortedSet(Comparator.naturalOrder()));
    }
}
