package org.djlplan.delegation.profile;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.time.Duration;
import java.util.List;
import org.djlplan.delegation.table.Goal;

/**
 * What is to be measured.
 *
 * @param goal what the choice is to reach
 * @param threads settings of threads to choose from, −1 for the engine's default; at least one
 * @param budget after how much time measuring is to end. What cannot be done without, and what is
 *     running by then, comes on top: the CPU kernels, everything delegated, and one turn for each
 *     candidate that was prepared
 * @param tolerance how far outputs of floating-point types may be from those of the CPU kernels,
 *     relative to the largest element; quantized ones may be one step off, others not at all
 * @param exhaustive whether all unions of whole partitions are measured equally often instead of
 *     the promising ones: for studies
 */
public record ProfileSettings(
        Goal goal, List<Integer> threads, Duration budget, double tolerance, boolean exhaustive) {

    public ProfileSettings {
        threads = ImmutableList.copyOf(ImmutableSet.copyOf(threads));
        checkArgument(!threads.isEmpty(), "no setting of threads");
        checkArgument(threads.stream().allMatch(t -> t == -1 || t > 0), "threads: %s", threads);
        checkArgument(!budget.isNegative() && !budget.isZero(), "budget: %s", budget);
        checkArgument(tolerance >= 0, "tolerance: %s", tolerance);
    }
}
