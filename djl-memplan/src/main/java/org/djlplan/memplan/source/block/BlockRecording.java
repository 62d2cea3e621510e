package org.djlplan.memplan.source.block;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * What a block did during one prediction.
 *
 * @param created the arrays it created, in order of creation; the number of an array is its
 *     position here
 * @param foreign the arrays it was given, the inputs first, then parameters as they were touched
 * @param inputCount how many of the foreign arrays are inputs
 * @param operations in execution order
 * @param outputs numbers of the created arrays that it returned
 */
public record BlockRecording(
        List<RecordedArray> created,
        List<RecordedArray> foreign,
        int inputCount,
        List<RecordedOperation> operations,
        List<Integer> outputs) {

    public BlockRecording {
        created = ImmutableList.copyOf(created);
        foreign = ImmutableList.copyOf(foreign);
        operations = ImmutableList.copyOf(operations);
        outputs = ImmutableList.copyOf(outputs);
        checkArgument(inputCount >= 0 && inputCount <= foreign.size(), "%s inputs", inputCount);
        int ended = 0;
        for (RecordedOperation operation : operations) {
            checkArgument(
                    operation.firstCreation() >= ended && operation.endCreation() <= created.size(),
                    "%s does not follow creation %s",
                    operation,
                    ended);
            ended = operation.endCreation();
            for (int read : operation.reads()) {
                checkArgument(read >= 0 && read < foreign.size(), "%s reads %s", operation, read);
            }
        }
        for (int output : outputs) {
            checkArgument(output >= 0 && output < created.size(), "output %s", output);
        }
    }
}
