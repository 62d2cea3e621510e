package org.djlplan.delegation.internal.partition;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedSet;
import java.util.SortedSet;

/**
 * A set of operators that is delegated completely or not at all: a partition, or a part of one. It
 * is convex: no path leaves it and returns.
 *
 * @param operators their indices in the graph, ascending, without constant operators
 * @param partition index among the partitions that the delegate reported
 * @param flops FLOPs of one inference, without operators of unknown shapes
 * @param weightBytes bytes of the constants that it reads, unpacked
 * @param crossingBytes bytes of the tensors that enter it plus those that leave it
 */
public record Piece(
        SortedSet<Integer> operators,
        int partition,
        long flops,
        long weightBytes,
        long crossingBytes) {

    public Piece {
        operators = ImmutableSortedSet.copyOf(operators);
        checkArgument(!operators.isEmpty(), "a piece without operators");
        checkArgument(partition >= 0, "partition: %s", partition);
        checkArgument(flops >= 0, "flops: %s", flops);
        checkArgument(weightBytes >= 0, "weightBytes: %s", weightBytes);
        checkArgument(crossingBytes >= 0, "crossingBytes: %s", crossingBytes);
    }
}
