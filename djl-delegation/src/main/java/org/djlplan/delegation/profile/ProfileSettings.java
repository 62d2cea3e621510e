package org.djlplan.delegation.profile;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.table.Goal;
import org.djlplan.memplan.spi.Tolerance;

/**
 * The settings of one measurement.
 *
 * @param goal what the choice is to reach
 * @param threads settings of threads to choose from, −1 for the engine's default; at least one
 * @param budget after how much time measuring is to end; empty for {@link #BASE} and as long as
 *     {@value #INFERENCES} inferences of the CPU kernels take. What cannot be done without, and
 *     what is running by then, comes on top: the CPU kernels, everything delegated, and three turns
 *     for those that may be the best
 * @param tolerance how far outputs may be from those of the CPU kernels
 * @param transientBuffers whether the delegate can build its buffers for each prediction; such
 *     candidates are tried only if the goal asks for memory
 * @param exhaustive whether all unions of whole partitions are measured equally often instead of
 *     the promising ones: for studies
 */
public record ProfileSettings(
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance,
        boolean transientBuffers,
        boolean exhaustive) {

    /** How long measuring may take, however fast the model is. */
    public static final Duration BASE = Duration.ofSeconds(7);

    /** Measuring may take as much longer as so many inferences of the CPU kernels. */
    public static final int INFERENCES = 40;

    public ProfileSettings {
        threads = ImmutableList.copyOf(ImmutableSet.copyOf(threads));
        checkArgument(!threads.isEmpty(), "no setting of threads");
        checkArgument(threads.stream().allMatch(t -> t == -1 || t > 0), "threads: %s", threads);
        checkArgument(budget.isEmpty() || budget.get().toNanos() > 0, "budget: %s", budget);
    }

    /** Settings for a delegate that always keeps its buffers. */
    public ProfileSettings(
            Goal goal,
            List<Integer> threads,
            Optional<Duration> budget,
            Tolerance tolerance,
            boolean exhaustive) {
        this(goal, threads, budget, tolerance, false, exhaustive);
    }

    /** Returns whether candidates that build their buffers for each prediction are tried. */
    boolean triesTransientBuffers() {
        return transientBuffers && goal.asksForMemory();
    }
}
