package org.djlplan.memplan.internal.source.block;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A recorded prediction of a block: the arrays that it created, and its operations.
 *
 * @param created the arrays it created, in order of creation; the number of an array is its
 *     position here
 * @param operations in execution order
 * @param outputs numbers of the created arrays that the block returned
 */
public record BlockRecording(
        List<Array> created, List<Operation> operations, List<Integer> outputs) {

    public BlockRecording {
        created = ImmutableList.copyOf(created);
        operations = ImmutableList.copyOf(operations);
        outputs = ImmutableList.copyOf(outputs);
        int ended = 0;
        for (Operation operation : operations) {
            checkArgument(
                    operation.firstCreation() >= ended && operation.endCreation() <= created.size(),
                    "%s does not follow creation %s",
                    operation,
                    ended);
            ended = operation.endCreation();
        }
        for (int output : outputs) {
            checkArgument(output >= 0 && output < created.size(), "output %s", output);
        }
    }

    /**
     * An array that the block created.
     *
     * @param type its element type and shape
     * @param kept whether it must not be closed, whatever its last use
     */
    public record Array(ArrayType type, boolean kept) {}

    /**
     * One call of an engine's method during a prediction.
     *
     * @param name the method's name, for example {@code convolution}
     * @param uses numbers of the arrays that it used, among those created before it began
     * @param firstCreation number of arrays created before it began
     * @param endCreation number of arrays created before it ended
     * @param returnsLastCreation whether it returned the last array that it created. If so, the
     *     operation is finished when that array is created
     */
    public record Operation(
            String name,
            List<Integer> uses,
            int firstCreation,
            int endCreation,
            boolean returnsLastCreation) {

        public Operation {
            uses = ImmutableList.copyOf(uses);
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
