package org.djlplan.memplan.graph;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model as a sequence of operators on tensors.
 *
 * @param name the model's name
 * @param operators in execution order
 * @param tensors by id
 * @param inputs ids of the tensors that the caller fills
 * @param outputs ids of the tensors that the caller reads
 */
public record Graph(
        String name,
        List<Operator> operators,
        List<Tensor> tensors,
        List<Integer> inputs,
        List<Integer> outputs) {

    public Graph {
        operators = ImmutableList.copyOf(operators);
        tensors = ImmutableList.copyOf(tensors);
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        for (int i = 0; i < tensors.size(); i++) {
            checkArgument(tensors.get(i).id() == i, "tensor %s stands at %s", tensors.get(i), i);
        }
        for (int i = 0; i < operators.size(); i++) {
            Operator operator = operators.get(i);
            checkArgument(operator.index() == i, "operator %s stands at %s", operator, i);
            checkIds(operator.inputs(), tensors.size());
            checkIds(operator.outputs(), tensors.size());
            checkIds(operator.temporaries(), tensors.size());
        }
        checkIds(inputs, tensors.size());
        checkIds(outputs, tensors.size());
    }

    private static void checkIds(List<Integer> ids, int size) {
        for (int id : ids) {
            checkArgument(id >= 0 && id < size, "no tensor %s among %s", id, size);
        }
    }
}
