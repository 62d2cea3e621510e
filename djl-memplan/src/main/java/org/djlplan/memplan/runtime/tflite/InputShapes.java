package org.djlplan.memplan.runtime.tflite;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;

/** The shapes that a model is run with, by the values and shapes that its user gives. */
public final class InputShapes {

    private InputShapes() {}

    /**
     * Returns the shapes that a model is run with: as in the stock engine those given do not matter
     * when every value has as many bytes, or strings, as the file's shape asks for.
     *
     * @param inputs the model's inputs
     * @param inFile their shapes in the file
     * @param values the given values
     * @param shapes the given shapes
     * @throws IllegalArgumentException if a value cannot be that of its input
     */
    public static List<List<Integer>> effective(
            List<TensorInfo> inputs,
            List<List<Integer>> inFile,
            List<ByteBuffer> values,
            List<List<Integer>> shapes) {
        if (values.size() != inputs.size() || shapes.size() != inputs.size()) {
            throw new IllegalArgumentException(
                    values.size() + " inputs were given, the model has " + inputs.size());
        }
        boolean asInFile = true;
        for (int i = 0; i < values.size(); i++) {
            TensorInfo input = inputs.get(i);
            if (input.type() == ElementType.STRING) {
                asInFile &= elements(shapes.get(i)) == elements(inFile.get(i));
                continue;
            }
            long bytes = values.get(i).remaining();
            if (bytes != input.bytes()) {
                asInFile = false;
                checkArgument(
                        bytes == elements(shapes.get(i)) * input.type().bytes(),
                        "input %s is %s of shape %s: %s bytes of shape %s were given",
                        input.name(),
                        input.type(),
                        input.shape(),
                        bytes,
                        shapes.get(i));
            }
        }
        return asInFile ? inFile : shapes;
    }

    private static long elements(List<Integer> shape) {
        long elements = 1;
        for (int dimension : shape) {
            checkArgument(dimension > 0, "an input of shape %s", shape);
            elements = Math.multiplyExact(elements, dimension);
        }
        return elements;
    }
}
