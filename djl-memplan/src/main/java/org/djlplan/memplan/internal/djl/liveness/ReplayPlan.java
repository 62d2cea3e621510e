package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;
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

    private static final int NEVER = -1;

    /** The element type and shape of an array. */
    record Form(DataType type, Shape shape) {

        static Form of(NDArray array) {
            return new Form(array.getDataType(), array.getShape());
        }

        static Form of(ArrayType type) {
            return new Form(ArrayTypes.dataType(type), ArrayTypes.shape(type));
        }
    }

    private final ImmutableList<Form> forms;
    private final int[] closedAt;
    private final int[][] due;
    private final boolean borrowed;

    /**
     * @param closedAt number of the creation at which an array is closed, or {@link #NEVER}
     */
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

    /**
     * Returns the plan of a recorded pass. An array is closed at the first creation after its last
     * use. If an operation returns the last array that it creates, it does not need its operands
     * once that array exists, so they are closed at that creation; other arrays that it creates may
     * be in use until it ends.
     */
    static ReplayPlan of(BlockRecording recording) {
        List<BlockRecording.Array> created = recording.created();
        int[] closedAt = new int[created.size()];
        Arrays.setAll(closedAt, number -> number + 1);
        for (BlockRecording.Operation operation : recording.operations()) {
            int end = operation.endCreation();
            Arrays.fill(closedAt, operation.firstCreation(), end, end);
            for (int number : operation.uses()) {
                boolean operand = number < operation.firstCreation();
                closedAt[number] = operand && operation.returnsLastCreation() ? end - 1 : end;
            }
        }
        for (int i = 0; i < closedAt.length; i++) {
            if (created.get(i).kept() || recording.outputs().contains(i)) {
                closedAt[i] = NEVER;
            }
        }
        return new ReplayPlan(
                created.stream()
                        .map(array -> Form.of(array.type()))
                        .collect(ImmutableList.toImmutableList()),
                closedAt,
                false);
    }

    /** Returns this plan for passes with inputs of other shapes. */
    ReplayPlan borrowed() {
        return new ReplayPlan(forms, closedAt, true);
    }

    /** Returns the plan of a pass that followed this one with inputs of other shapes. */
    ReplayPlan withForms(List<Form> others) {
        return new ReplayPlan(ImmutableList.copyOf(others), closedAt, false);
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
