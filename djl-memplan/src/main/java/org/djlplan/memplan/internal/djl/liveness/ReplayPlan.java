package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The arrays that a forward pass creates, and when each is closed. The number of an array is its
 * position in the order of creation.
 *
 * <p>A plan is <em>borrowed</em> if it was recorded with inputs of other shapes: then only element
 * type and rank of each array are compared, and the engine rejects an array that was closed too
 * early.
 */
final class ReplayPlan {

    /** Stands for an array that is not closed. */
    static final int NEVER = -1;

    /** The element type and shape of an array. */
    record Form(DataType type, Shape shape) {

        static Form of(NDArray array) {
            return new Form(array.getDataType(), array.getShape());
        }
    }

    private final ImmutableList<Form> forms;
    private final int[] closedAt;
    private final int[][] due;
    private final boolean borrowed;

    /**
     * Creates the plan of a recorded pass.
     *
     * @param closedAt number of the creation at which each array is closed, or {@link #NEVER}
     */
    ReplayPlan(List<Form> forms, int[] closedAt) {
        this(ImmutableList.copyOf(forms), closedAt, false);
    }

    private ReplayPlan(ImmutableList<Form> forms, int[] closedAt, boolean borrowed) {
        this.forms = forms;
        this.closedAt = closedAt;
        this.borrowed = borrowed;
        due = new int[closedAt.length + 1][];
        Arrays.setAll(
                due,
                at ->
                        IntStream.range(0, closedAt.length)
                                .filter(number -> closedAt[number] == at)
                                .toArray());
    }

    /** Returns this plan for passes with inputs of other shapes. */
    ReplayPlan borrowed() {
        return new ReplayPlan(forms, closedAt, true);
    }

    /** Returns the plan of a pass that followed this one with inputs of other shapes. */
    ReplayPlan withForms(List<Form> others) {
        return new ReplayPlan(others, closedAt);
    }

    /** Returns whether it was recorded with inputs of other shapes. */
    boolean isBorrowed() {
        return borrowed;
    }

    /** Returns the number of arrays that a forward pass creates. */
    int size() {
        return forms.size();
    }

    /** Returns whether an array has the form that the plan expects for this number. */
    boolean admits(int number, Form form) {
        if (number >= forms.size()) {
            return false;
        }
        Form expected = forms.get(number);
        return borrowed
                ? form.type() == expected.type()
                        && form.shape().dimension() == expected.shape().dimension()
                : form.equals(expected);
    }

    /**
     * Returns the numbers of the arrays that are not needed once the array with this number exists;
     * for the number after the last one, those not needed at the end.
     */
    int[] due(int number) {
        return due[number];
    }
}
