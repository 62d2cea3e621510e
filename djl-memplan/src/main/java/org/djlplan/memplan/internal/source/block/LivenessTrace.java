package org.djlplan.memplan.internal.source.block;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * All arrays that a block created during one prediction, in order of creation, with the last use of
 * each. The number of an array is its position here.
 *
 * @param arrays the arrays
 */
public record LivenessTrace(List<Array> arrays) {

    public LivenessTrace {
        arrays = ImmutableList.copyOf(arrays);
        for (int i = 0; i < arrays.size(); i++) {
            int closedAt = arrays.get(i).closedAt().orElse(i + 1);
            checkArgument(
                    closedAt > i && closedAt <= arrays.size(),
                    "array %s of %s is closed at %s",
                    i,
                    arrays.size(),
                    closedAt);
        }
    }

    /**
     * Returns the arrays with the time at which each may be closed in later predictions: at the
     * first creation after its last use. If an operation returns the last array that it creates, it
     * does not need its operands once that array exists, so they are closed at that creation; other
     * arrays that it creates may be in use until it ends.
     */
    public static LivenessTrace of(BlockRecording recording) {
        List<BlockRecording.Array> created = recording.created();
        int[] closedAt = new int[created.size()];
        Arrays.setAll(closedAt, number -> number + 1);
        for (BlockRecording.Operation operation : recording.operations()) {
            for (int number = operation.firstCreation();
                    number < operation.endCreation();
                    number++) {
                closedAt[number] = operation.endCreation();
            }
            for (int number : operation.uses()) {
                boolean operand = number < operation.firstCreation();
                closedAt[number] =
                        operand && operation.returnsLastCreation()
                                ? operation.endCreation() - 1
                                : operation.endCreation();
            }
        }
        boolean[] left = new boolean[closedAt.length];
        for (int output : recording.outputs()) {
            left[output] = true;
        }
        ImmutableList.Builder<Array> arrays = ImmutableList.builder();
        for (int i = 0; i < closedAt.length; i++) {
            boolean kept = left[i] || created.get(i).kept();
            arrays.add(
                    new Array(
                            created.get(i).type(),
                            kept ? OptionalInt.empty() : OptionalInt.of(closedAt[i])));
        }
        return new LivenessTrace(arrays.build());
    }

    /**
     * Returns the trace of a prediction with inputs of other shapes and the same operations.
     *
     * @param types of its arrays, in order of creation
     */
    public LivenessTrace withTypes(List<ArrayType> types) {
        checkArgument(types.size() == arrays.size(), "%s types", types.size());
        ImmutableList.Builder<Array> retyped = ImmutableList.builder();
        for (int i = 0; i < types.size(); i++) {
            retyped.add(new Array(types.get(i), arrays.get(i).closedAt()));
        }
        return new LivenessTrace(retyped.build());
    }

    /**
     * An array that a block created during a prediction.
     *
     * @param type its element type and shape, verified when it is created again
     * @param closedAt number of the creation at which the array is closed because it is no longer
     *     needed (greater than the array's own number); empty for an array that is left to its
     *     owner
     */
    public record Array(ArrayType type, OptionalInt closedAt) {}
}
