package org.djlplan.memplan.source.block;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;
import org.djlplan.memplan.graph.ArrayType;

/**
 * A record of one prediction of a block: the arrays it made and was given, and its operations.
 *
 * @param created the arrays it created, in order of creation; the number of an array is its
 *     position here
 * @param foreign the arrays it was given, the inputs first, then parameters as they were touched
 * @param inputCount how many of the foreign arrays are inputs
 * @param operations in execution order
 * @param outputs numbers of the created arrays that it returned
 */
public record BlockRecording(
        List<Array> created,
        List<Array> foreign,
        int inputCount,
        List<Operation> operations,
        List<Integer> outputs) {

    public BlockRecording {
        created = ImmutableList.copyOf(created);
        foreign = ImmutableList.copyOf(foreign);
        operations = ImmutableList.copyOf(operations);
        outputs = ImmutableList.copyOf(outputs);
        checkArgument(inputCount >= 0 && inputCount <= foreign.size(), "%s inputs", inputCount);
        int ended = 0;
        for (Operation operation : operations) {
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

    /**
     * An array that was seen during a prediction.
     *
     * @param type its element type and shape
     * @param kept whether it has to be left alone, whatever its last use; true for every array that
     *     the block did not create
     * @param name of a parameter, its path in the tree of blocks; empty where it has none
     */
    public record Array(ArrayType type, boolean kept, String name) {}

    /**
     * One call of an engine's method during a prediction.
     *
     * @param name the method's name, for example {@code convolution}
     * @param uses numbers of the created arrays that it touched, without those that it created
     * @param reads numbers of the arrays from elsewhere (inputs and parameters) that it touched
     * @param firstCreation how many arrays had been created when it began
     * @param endCreation how many arrays had been created when it ended
     * @param returnsLastCreation whether the last array that it created is among those it returned.
     *     It then has done its work when that array comes into being
     */
    public record Operation(
            String name,
            List<Integer> uses,
            List<Integer> reads,
            int firstCreation,
            int endCreation,
            boolean returnsLastCreation) {

        public Operation {
            uses = ImmutableList.copyOf(uses);
            reads = ImmutableList.copyOf(reads);
            checkArgument(
                    firstCreation >= 0 && firstCreation <= endCreation,
                    "%s creates from %s to %s",
                    name,
                    firstCreation,
                    endCreation);
            checkArgument(
                    !returnsLastCreation || endCreation > firstCreation,
                    "%s returns what it does not create",
                    name);
            for (int use : uses) {
                checkArgument(use >= 0 && use < endCreation, "%s uses %s", name, use);
            }
        }
    }
}
