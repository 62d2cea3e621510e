package org.djlplan.integration.paper;

import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A network without weights.
 *
 * @param graph its operators and the tensors that inference writes; constants are left out
 * @param parameters number of trained values: weights, and one bias per output channel, because
 *     TensorFlow Lite's converter folds batch normalization into them
 * @param multiplyAdds multiplications with a weight in one inference
 */
public record NetworkSketch(Graph graph, long parameters, long multiplyAdds) {

    /** Returns the planning problem for strategies, without aliases. */
    public PlanningProblem problem() {
        return new PlanningProblem(UsageRecords.of(graph));
    }

    /** Returns the shape of every operator's output, in execution order. */
    public ImmutableList<ImmutableList<Integer>> outputShapes() {
        return graph.operators().stream()
                .map(operator -> ImmutableList.copyOf(outputShape(operator)))
                .collect(ImmutableList.toImmutableList());
    }

    private Iterable<Integer> outputShape(Operator operator) {
        return graph.tensors().get(operator.outputs().get(0)).shape();
    }
}
