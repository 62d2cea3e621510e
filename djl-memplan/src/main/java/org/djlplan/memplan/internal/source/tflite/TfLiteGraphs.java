package org.djlplan.memplan.internal.source.tflite;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Converts the first subgraph of a {@code .tflite} file to a graph. */
public final class TfLiteGraphs {

    private TfLiteGraphs() {}

    /**
     * Returns the graph of a file's first subgraph. Tensor ids are TensorFlow Lite's tensor
     * indices, operator types its builtin names, or {@code CUSTOM:name}.
     *
     * <p>Sizes follow from the shapes in the file, which TensorFlow Lite uses unless the caller
     * resizes an input. A tensor with an unknown dimension, of a type without a size, or without
     * elements has 0 bytes and is owned by the engine.
     *
     * @param name of the graph
     */
    public static Graph toGraph(TfLiteFile file, String name) {
        TfLiteSubgraph subgraph = file.main();
        ImmutableList.Builder<Operator> operators = ImmutableList.builder();
        for (int i = 0; i < subgraph.operators().size(); i++) {
            TfLiteOperator operator = subgraph.operators().get(i);
            operators.add(
                    new Operator(
                            i,
                            file.codeOf(operator).name(),
                            operator.presentInputs(),
                            operator.presentOutputs(),
                            List.of()));
        }
        Set<Integer> mutated = mutatedInputs(subgraph);
        ImmutableList.Builder<Tensor> tensors = ImmutableList.builder();
        for (int i = 0; i < subgraph.tensors().size(); i++) {
            TfLiteTensor tensor = subgraph.tensors().get(i);
            boolean variable = tensor.isVariable() || mutated.contains(i);
            tensors.add(tensor(file, tensor, i, variable));
        }
        return new Graph(
                name, operators.build(), tensors.build(), subgraph.inputs(), subgraph.outputs());
    }

    private static Tensor tensor(TfLiteFile file, TfLiteTensor tensor, int id, boolean variable) {
        TfLiteBytes content = TfLiteBytes.EMPTY;
        Storage storage;
        long bytes = tensor.sizeBytes();
        if (file.isConstant(tensor)) {
            storage = Storage.CONSTANT;
            content = file.buffers().get(tensor.buffer());
            bytes = content.sizeBytes();
        } else if (variable) {
            storage = Storage.VARIABLE;
        } else {
            storage = bytes == 0 ? Storage.ENGINE : Storage.INTERMEDIATE;
        }
        return new Tensor(
                id,
                tensor.name(),
                tensor.elementType(),
                tensor.shape(),
                bytes,
                storage,
                storage == Storage.CONSTANT ? content.region() : Optional.empty());
    }

    /** Returns state tensors that older files mark only at the operators. */
    static Set<Integer> mutatedInputs(TfLiteSubgraph subgraph) {
        Set<Integer> mutated = new HashSet<>();
        for (TfLiteOperator operator : subgraph.operators()) {
            for (int i = 0; i < operator.inputs().size(); i++) {
                if (operator.mutates(i) && operator.inputs().get(i) != TfLiteOperator.ABSENT) {
                    mutated.add(operator.inputs().get(i));
                }
            }
        }
        return mutated;
    }
}
