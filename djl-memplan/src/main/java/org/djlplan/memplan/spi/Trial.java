package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * What the first runs of a candidate showed.
 *
 * @param kernels how many delegate kernels its operators became
 * @param errors of the outputs against the CPU kernels, in their order
 * @param memoryBytes what the process's anonymous resident memory grew by: packed weights,
 *     workspaces and the arena. 0 where the system does not tell
 * @param inferences how many runs this took
 */
public record Trial(int kernels, List<OutputError> errors, long memoryBytes, int inferences) {

    public Trial {
        checkArgument(kernels >= 0, "kernels: %s", kernels);
        checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
        checkArgument(inferences >= 0, "inferences: %s", inferences);
        errors = ImmutableList.copyOf(errors);
    }
}
