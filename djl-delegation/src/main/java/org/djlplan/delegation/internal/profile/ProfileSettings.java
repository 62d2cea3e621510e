package org.djlplan.delegation.internal.profile;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.internal.table.Goal;
import org.djlplan.memplan.spi.Tolerance;

/**
 * The settings of one measurement.
 *
 * @param goal of the choice
 * @param threads numbers of threads to choose from, −1 for the engine's default; at least one
 * @param budget time limit of measuring; empty for {@link #BASE} plus the time of {@value
 *     #INFERENCES} inferences in the CPU kernels. Required and running steps may exceed it: the CPU
 *     kernels, everything delegated, and three turns for the candidates that may be the best
 * @param tolerance for the outputs
 * @param transientBuffers whether the delegate can build its buffers for each prediction; such
 *     candidates are tried only if the goal asks for memory
 * @param exhaustive whether to measure all unions of whole partitions equally often instead of the
 *     promising ones, for studies
 */
public record ProfileSettings(
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance,
        boolean transientBuffers,
        boolean exhaustive) {

    /** Time limit independent of the model's speed. */
    public static final Duration BASE = Duration.ofSeconds(7);

    /** Number of CPU kernel inferences whose time is added to the limit. */
    public static final int INFERENCES = 40;

    public ProfileSettings {
        threads = ImmutableList.copyOf(ImmutableSet.copyOf(threads));
        checkArgument(!threads.isEmpty(), "no setting of threads");
        checkArgument(threads.stream().allMatch(t -> t == -1 || t > 0), "threads: %s", threads);
        checkArgument(budget.isEmpty() || budget.get().toNanos() > 0, "budget: %s", budget);
    }

    /** Creates settings for a delegate that always keeps its buffers. */
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
