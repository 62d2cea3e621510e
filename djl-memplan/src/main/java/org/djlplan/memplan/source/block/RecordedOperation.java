package org.djlplan.memplan.source.block;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * One call of an engine's method during a prediction.
 *
 * @param name the method's name, for example {@code convolution}
 * @param uses numbers of the created arrays that it touched, without those that it created
 * @param reads numbers of the arrays from elsewhere (inputs and parameters) that it touched
 * @param firstCreation how many arrays had been created when it began
 * @param endCreation how many arrays had been created when it ended
 * @param returnsLastCreation whether the last array that it created is among those it returned. It
 *     then has done its work when that array comes into being
 */
public record RecordedOperation(
        String name,
        List<Integer> uses,
        List<Integer> reads,
        int firstCreation,
        int endCreation,
        boolean returnsLastCreation) {

    public RecordedOperation {
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
