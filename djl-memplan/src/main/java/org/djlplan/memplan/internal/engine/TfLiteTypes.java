package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.util.PairList;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;

/** Converts the engine's types and shapes to DJL's. */
public final class TfLiteTypes {

    private TfLiteTypes() {}

    /** Returns DJL's shape of a tensor. */
    public static Shape shape(TensorInfo tensor) {
        return new Shape(tensor.shape().stream().mapToLong(Integer::longValue).toArray());
    }

    /**
     * Checks that an array has the type of an input. Java has no unsigned bytes, so an array of
     * INT8 is accepted for UINT8.
     *
     * @throws IllegalArgumentException if it has not; the message names both
     */
    public static void requireType(TensorInfo input, NDArray given) {
        DataType wanted = dataType(input.type());
        DataType type = given.getDataType();
        if (type != wanted && !(type == DataType.INT8 && wanted == DataType.UINT8)) {
            throw new IllegalArgumentException(
                    "input "
                            + input.name()
                            + " is "
                            + input.type()
                            + " of shape "
                            + input.shape()
                            + ": an array of type "
                            + type.name()
                            + " and shape "
                            + given.getShape()
                            + " was given");
        }
    }

    /** Returns names and shapes in the form of block descriptions. */
    public static PairList<String, Shape> description(List<TensorInfo> tensors) {
        PairList<String, Shape> description = new PairList<>(tensors.size());
        tensors.forEach(tensor -> description.add(tensor.name(), shape(tensor)));
        return description;
    }

    /**
     * Returns DJL's name of a type.
     *
     * @throws IllegalStateException if DJL has no such arrays
     */
    public static DataType dataType(ElementType type) {
        return switch (type) {
            case FLOAT16 -> DataType.FLOAT16;
            case FLOAT32 -> DataType.FLOAT32;
            case FLOAT64 -> DataType.FLOAT64;
            case INT8 -> DataType.INT8;
            case INT16 -> DataType.INT16;
            case INT32 -> DataType.INT32;
            case INT64 -> DataType.INT64;
            case UINT8 -> DataType.UINT8;
            case BOOL -> DataType.BOOLEAN;
            case STRING -> DataType.STRING;
            default -> throw new IllegalStateException("DJL has no arrays of type " + type);
        };
    }
}
