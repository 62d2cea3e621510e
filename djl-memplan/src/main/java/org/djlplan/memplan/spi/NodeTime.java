package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedSet;
import java.util.SortedSet;

/**
 * How long one node takes: an operator in its CPU kernel, or all operators of one delegate kernel.
 *
 * @param operators their indices in the graph
 * @param delegated whether the delegate runs them
 * @param nanos median of several runs
 */
public record NodeTime(SortedSet<Integer> operators, boolean delegated, long nanos) {

    public NodeTime {
        operators = ImmutableSortedSet.copyOf(operators);
        checkArgument(!operators.isEmpty(), "a node without operators");
        checkArgument(nanos >= 0, "nanos: %s", nanos);
    }
}
