package org.djlplan.memplan.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Builds small graphs for tests: tensors first, then operators in execution order. */
public final class GraphSketch {

    private final List<Tensor> tensors = new ArrayList<>();
    private final List<Operator> operators = new ArrayList<>();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();

    /** Adds a float tensor that lives inside one inference. */
    public int tensor(Integer... shape) {
        return tensor(ElementType.FLOAT32, Storage.INTERMEDIATE, shape);
    }

    /** Adds a tensor whose size follows from its type and shape. */
    public int tensor(ElementType type, Storage storage, Integer... shape) {
        long elements =
                Arrays.stream(shape).mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b);
        return tensor(type, storage, elements * type.bytes(), List.of(shape));
    }

    /** Adds a tensor of any size. */
    public int tensor(ElementType type, Storage storage, long bytes, List<Integer> shape) {
        int id = tensors.size();
        tensors.add(new Tensor(id, "t" + id, type, shape, bytes, storage, Optional.empty()));
        return id;
    }

    /** Adds a float tensor that the caller fills. */
    public int input(Integer... shape) {
        int id = tensor(shape);
        inputs.add(id);
        return id;
    }

    /** Makes a tensor one that the caller reads. */
    public GraphSketch output(int id) {
        outputs.add(id);
        return this;
    }

    /** Adds an operator with one output. */
    public GraphSketch operator(String type, int output, Integer... reads) {
        return operator(type, List.of(reads), List.of(output), List.of());
    }

    /** Adds an operator. */
    public GraphSketch operator(
            String type, List<Integer> reads, List<Integer> writes, List<Integer> temporaries) {
        operators.add(new Operator(operators.size(), type, reads, writes, temporaries));
        return this;
    }

    /** Returns the graph. */
    public Graph build() {
        return new Graph("sketch", operators, tensors, inputs, outputs);
    }
}
