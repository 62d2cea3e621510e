package org.djlplan.memplan.source.block;

import com.google.common.collect.ImmutableList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/** Finds when each array of a recorded prediction could have been closed. */
public final class LastUses {

    private LastUses() {}

    /**
     * Returns the arrays and when each of them may be closed in later predictions: upon the first
     * creation after its last use. An operation that returns the last array it creates does not
     * need its operands any more once that array exists, so they go upon that very creation; what
     * it creates on the way may be in use until it ends.
     */
    public static LivenessTrace of(BlockRecording recording) {
        List<RecordedArray> created = recording.created();
        int[] closedAt = new int[created.size()];
        Arrays.setAll(closedAt, number -> number + 1);
        for (RecordedOperation operation : recording.operations()) {
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
        ImmutableList.Builder<CreatedArray> arrays = ImmutableList.builder();
        for (int i = 0; i < closedAt.length; i++) {
            boolean kept = left[i] || created.get(i).kept();
            arrays.add(
                    new CreatedArray(
                            created.get(i).type(),
                            kept ? OptionalInt.empty() : OptionalInt.of(closedAt[i])));
        }
        return new LivenessTrace(arrays.build());
    }
}
