package org.djlplan.memplan.cli;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import com.google.common.collect.ImmutableList;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.source.tflite.TfLiteTensor;

/** The inputs of a {@code .tflite} model, read without an engine. */
final class TfLiteInputs {

    private TfLiteInputs() {}

    /**
     * Returns the shapes and types of a model's inputs.
     *
     * @throws Failure if the file is no model, or an input has a type that no random values fit
     */
    static ImmutableList<InputSpec> read(Path model) {
        try {
            TfLiteSubgraph graph = TfLiteReader.read(model).main();
            return graph.inputs().stream()
                    .map(id -> spec(graph.tensors().get(id)))
                    .collect(ImmutableList.toImmutableList());
        } catch (TfLiteFormatException e) {
            throw new Failure(e.getMessage());
        }
    }

    static int[] dimensions(Shape shape) {
        return Arrays.stream(shape.getShape()).mapToInt(Math::toIntExact).toArray();
    }

    private static InputSpec spec(TfLiteTensor input) {
        long[] shape = input.shape().stream().mapToLong(Integer::longValue).toArray();
        if (Arrays.stream(shape).anyMatch(dimension -> dimension < 1)) {
            throw new Failure("input '" + input.name() + "' has no fixed shape: " + input.shape());
        }
        return new InputSpec(new Shape(shape), Optional.of(type(input)));
    }

    private static DataType type(TfLiteTensor input) {
        ElementType type = input.elementType();
        return switch (type) {
            case FLOAT32 -> DataType.FLOAT32;
            case FLOAT64 -> DataType.FLOAT64;
            case INT8 -> DataType.INT8;
            case UINT8 -> DataType.UINT8;
            case INT16 -> DataType.INT16;
            case INT32 -> DataType.INT32;
            case INT64 -> DataType.INT64;
            case BOOL -> DataType.BOOLEAN;
            default ->
                    throw new Failure(
                            "input '" + input.name() + "' of type " + type + " is not supported");
        };
    }
}
