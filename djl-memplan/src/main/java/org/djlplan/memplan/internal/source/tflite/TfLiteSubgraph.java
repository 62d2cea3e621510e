package org.djlplan.memplan.internal.source.tflite;

import java.util.List;
import java.util.function.IntUnaryOperator;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A subgraph as stored in the file.
 *
 * @param name possibly empty
 * @param tensors its tensors; operators refer to them by index
 * @param inputs tensors that the caller fills
 * @param outputs tensors that the caller reads
 * @param operators in execution order
 */
public record TfLiteSubgraph(
        String name,
        List<TfLiteTensor> tensors,
        List<Integer> inputs,
        List<Integer> outputs,
        List<TfLiteOperator> operators) {

    public TfLiteSubgraph {
        tensors = ImmutableList.copyOf(tensors);
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        operators = ImmutableList.copyOf(operators);
    }

    /** Returns this subgraph with other indices of the subgraphs that its operators call. */
    TfLiteSubgraph calling(IntUnaryOperator moved) {
        return new TfLiteSubgraph(
                name,
                tensors,
                inputs,
                outputs,
                operators.stream().map(operator -> operator.calling(moved)).toList());
    }
}
