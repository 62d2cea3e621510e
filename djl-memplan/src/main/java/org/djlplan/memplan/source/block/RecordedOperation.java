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
 * @param returnsCreation whether what it returned is an array that it created
 */
public record RecordedOperation(
        String name,
        List<Integer> uses,
        List<Integer> reads,
        int firstCreation,
        int endCreation,
        boolean returnsCreation) {

    public RecordedOperation {
        uses = ImmutableList.copyOf(uses);
        reads = ImmutableList.copyOf(reads);
        checkArgument(
                firstCreation >= 0 && firstCreation <= endCreation,
                "%s creates from %s to %s",
                name,
                firstCreation,
                endCreation);
        for (int use : uses) {
            checkArgument(use >= 0 && use < endCreation, "%s uses %s", name, use);
        }
    }

    /**
     * Returns whether it made one array, which is its result. Such an operation has done its work
     * when that array comes into being.
     */
    public boolean endsWithItsCreation() {
        return returnsCreation && endCreation == firstCreation + 1;
    }
}
