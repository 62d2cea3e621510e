package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;

/** Graphs with their operators in another order. */
public final class ReorderedGraphs {

    private ReorderedGraphs() {}

    /**
     * Returns the same graph with its operators in another order, numbered anew; tensors keep their
     * ids.
     *
     * @param order indices of the operators in the order to execute
     * @throws IllegalArgumentException if that is not every operator once, or an operator would run
     *     before one that it depends on
     */
    public static Graph of(Graph graph, List<Integer> order) {
        List<String> problems = OrderValidator.problems(graph, order);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(problems.get(0));
        }
        ImmutableList.Builder<Operator> operators = ImmutableList.builder();
        for (int i = 0; i < order.size(); i++) {
            operators.add(graph.operators().get(order.get(i)).at(i));
        }
        return new Graph(
                graph.name(), operators.build(), graph.tensors(), graph.inputs(), graph.outputs());
    }
}
