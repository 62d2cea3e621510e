package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.internal.source.block.LivenessTrace;

/**
 * A trace in a form for fast lookup while a block runs.
 *
 * <p>A plan is <em>borrowed</em> if it was recorded with inputs of other shapes: then only element
 * type and rank of each array are compared, and the engine rejects an array that was closed too
 * early.
 */
final class ReplayPlan {

    private final LivenessTrace trace;
    private final DataType[] dataTypes;
    private final Shape[] shapes;
    private final int[][] due;
    private final boolean borrowed;

    /**
     * Prepares a trace.
     *
     * @param borrowed whether it was recorded with inputs of other shapes
     * @throws IllegalArgumentException if the trace has an element type that DJL does not have
     */
    ReplayPlan(LivenessTrace trace, boolean borrowed) {
        this.trace = trace;
        this.borrowed = borrowed;
        List<LivenessTrace.Array> arrays = trace.arrays();
        dataTypes =
                arrays.stream().map(a -> ArrayTypes.dataType(a.type())).toArray(DataType[]::new);
        shapes = arrays.stream().map(a -> ArrayTypes.shape(a.type())).toArray(Shape[]::new);
        List<List<Integer>> numbers = new ArrayList<>();
        for (int i = 0; i <= arrays.size(); i++) {
            numbers.add(new ArrayList<>());
        }
        for (int i = 0; i < arrays.size(); i++) {
            int number = i;
            arrays.get(i).closedAt().ifPresent(at -> numbers.get(at).add(number));
        }
        due =
                numbers.stream()
                        .map(list -> list.stream().mapToInt(Integer::intValue).toArray())
                        .toArray(int[][]::new);
    }

    /** Returns the trace of this plan. */
    LivenessTrace trace() {
        return trace;
    }

    /** Returns whether the trace was recorded with inputs of other shapes. */
    boolean borrowed() {
        return borrowed;
    }

    /** Returns the number of arrays that a forward pass creates. */
    int size() {
        return dataTypes.length;
    }

    /** Returns whether an array has the type that the plan expects for this number. */
    boolean admits(int number, NDArray array) {
        if (number >= dataTypes.length || array.getDataType() != dataTypes[number]) {
            return false;
        }
        return borrowed
                ? array.getShape().dimension() == shapes[number].dimension()
                : array.getShape().equals(shapes[number]);
    }

    /**
     * Returns the numbers of the arrays that are not needed once the array with this number exists;
     * for the number after the last one, those not needed at the end.
     */
    int[] due(int number) {
        return due[number];
    }
}
