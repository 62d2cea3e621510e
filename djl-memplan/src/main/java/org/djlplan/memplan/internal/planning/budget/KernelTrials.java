package org.djlplan.memplan.internal.planning.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The measurements of a streamed model's kernels.
 *
 * @param costs of the steps in CPU kernels
 * @param trials of steps in a delegate, the latest first
 */
public record KernelTrials(StepCosts costs, List<Trial> trials) {

    public KernelTrials {
        trials = ImmutableList.copyOf(trials);
    }

    /** Returns the trial of some steps, if there was one. */
    public Optional<Trial> of(SortedSet<Integer> steps) {
        return trials.stream().filter(each -> each.steps().equals(steps)).findFirst();
    }

    /**
     * A trial with some steps in a delegate and the others in CPU kernels.
     *
     * @param steps in the delegate
     * @param forBytes memory for arena and delegate together, for which the steps were selected
     * @param bytes measured memory of the delegate
     * @param nanos of a prediction
     * @param cpuNanos of a prediction in CPU kernels alone
     * @param errors of the outputs
     */
    public record Trial(
            SortedSet<Integer> steps,
            long forBytes,
            long bytes,
            long nanos,
            long cpuNanos,
            List<OutputError> errors) {

        public Trial {
            steps = ImmutableSortedSet.copyOf(steps);
            errors = ImmutableList.copyOf(errors);
            checkArgument(!steps.isEmpty(), "nothing was delegated");
            checkArgument(bytes >= 0 && forBytes >= bytes, "%s of %s bytes", bytes, forBytes);
            checkArgument(nanos > 0 && cpuNanos > 0, "%s and %s ns", nanos, cpuNanos);
        }

        /** Returns whether the outputs are accepted. */
        public boolean isRight(Tolerance tolerance) {
            return errors.stream().allMatch(tolerance::admits);
        }

        /** Returns whether it was faster than the CPU kernels. */
        public boolean isFaster() {
            return nanos < cpuNanos;
        }

        /** Returns the same trial, marked as selected for other bytes. */
        public Trial selectedFor(long otherBytes) {
            return new Trial(steps, otherBytes, bytes, nanos, cpuNanos, errors);
        }
    }
}
