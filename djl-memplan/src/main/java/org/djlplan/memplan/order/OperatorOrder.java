package org.djlplan.memplan.order;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * An execution order of a graph's operators.
 *
 * @param operators indices of the operators in the order they stand in now, in the order to execute
 * @param breadthBeforeBytes maximum breadth of the order they stand in now
 * @param breadthAfterBytes maximum breadth of this order
 * @param minimal whether it is proved that no order has a smaller maximum breadth
 */
public record OperatorOrder(
        List<Integer> operators, long breadthBeforeBytes, long breadthAfterBytes, boolean minimal) {

    public OperatorOrder {
        operators = ImmutableList.copyOf(operators);
        checkArgument(breadthAfterBytes >= 0, "a breadth of %s", breadthAfterBytes);
        checkArgument(
                breadthAfterBytes <= breadthBeforeBytes,
                "a breadth of %s, more than %s before",
                breadthAfterBytes,
                breadthBeforeBytes);
    }

    /** Returns whether any operator changes its place. */
    public boolean changes() {
        for (int i = 0; i < operators.size(); i++) {
            if (operators.get(i) != i) {
                return true;
            }
        }
        return false;
    }
}
