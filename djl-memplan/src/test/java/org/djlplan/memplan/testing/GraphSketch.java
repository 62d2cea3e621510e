package org.djlplan.memplan.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;

/**
 * Builds small graphs for tests, operator by operator in execution order. An operator reads
 * existing tensors, and writes existing or new ones.
 */
public final class GraphSketch {

    private final List<Tensor> tensors = new ArrayList<>();
    private final List<Operator> operators = new ArrayList<>();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();

    /**
     * Returns a chain of tensors 1 to 3, each of which may overwrite the one before; 0 and 4 are
     * the model's input and output.
     */
    public static Graph chain() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(4);
        int a = sketch.tensor(4);
        int b = sketch.tensor(4);
        int c = sketch.tensor(4);
        int output = sketch.tensor(4);
        return sketch.operator("CONV_2D", a, input)
                .operator("RELU", b, a)
                .operator("TANH", c, b)
                .operator("CONV_2D", output, c)
                .output(output)
                .build();
    }

    /** Adds a float tensor that lives inside one inference. */
    public int tensor(Integer... shape) {
        return tensor(ElementType.FLOAT32, Storage.INTERMEDIATE, shape);
    }

    /**
     * Adds a tensor whose size follows from its type and shape; an unknown dimension counts as 0.
     */
    public int tensor(ElementType type, Storage storage, Integer... shape) {
        long elements =
                Arrays.stream(shape).mapToLong(i -> Math.max(i, 0)).reduce(1, Math::multiplyExact);
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

    /** Makes a tensor an output, which the caller reads. */
    public GraphSketch output(int id) {
        outputs.add(id);
        return this;
    }

    /** Adds float weights. */
    public int weights(Integer... shape) {
        return tensor(ElementType.FLOAT32, Storage.CONSTANT, shape);
    }

    /** Adds 16-bit weights and the operator that unpacks them; returns its output. */
    public int halfWeights(Integer... shape) {
        int packed = tensor(ElementType.FLOAT16, Storage.CONSTANT, shape);
        return operator("DEQUANTIZE", List.of(shape), packed);
    }

    /** Adds an operator that writes a new float tensor, which is returned. */
    public int operator(String type, List<Integer> shape, Integer... reads) {
        int output = tensor(shape.toArray(Integer[]::new));
        operator(type, output, reads);
        return output;
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

    /** Adds a convolution that keeps height and width; returns its output. */
    public int conv(int input, int channels, int kernel) {
        List<Integer> from = tensors.get(input).shape();
        int filter = weights(channels, kernel, kernel, from.get(3));
        return operator("CONV_2D", List.of(1, from.get(1), from.get(2), channels), input, filter);
    }

    /** Returns the number of operators so far. */
    public int operators() {
        return operators.size();
    }

    /** Returns the graph. */
    public Graph build() {
        return new Graph("sketch", operators, tensors, inputs, outputs);
    }
}
