package org.djlplan.memplan.source.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * A subgraph as the file has it.
 *
 * @param name possibly empty
 * @param tensors its tensors; operators name them by index
 * @param inputs tensors the caller fills
 * @param outputs tensors the caller reads
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

    /** Returns the same subgraph when those that its operators call have other indices. */
    TfLiteSubgraph calling(IntUnaryOperator moved) {
        return new TfLiteSubgraph(
                name,
                tensors,
                inputs,
                outputs,
                operators.stream().map(operator -> operator.calling(moved)).toList());
    }
}
