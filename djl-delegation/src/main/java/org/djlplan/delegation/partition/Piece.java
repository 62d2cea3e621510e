package org.djlplan.delegation.partition;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedSet;
import java.util.SortedSet;

/**
 * A set of operators that is delegated as a whole or not at all: a whole partition, or what it was
 * cut into. Convex: no path leaves it and comes back.
 *
 * @param operators their indices in the graph, ascending, without constant operators
 * @param partition the partition's place among those that the delegate reported
 * @param flops FLOPs of one inference, those of operators of unknown shapes left out
 * @param weightBytes bytes of the constants that it reads, unpacked
 * @param crossingBytes bytes of the tensors that enter it, plus of those that leave it
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
