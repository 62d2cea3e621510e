package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import org.djlplan.memplan.spi.Candidate;

/**
 * The result of one profiling run.
 *
 * @param partitions what the delegate could take: sets of operators, in execution order
 * @param entries what was tried, in the order in which it was
 * @param chosen the candidate to use: one that was measured, or the CPU kernels where nothing could
 *     be measured
 * @param reason why, in one line
 * @param inferences how many inferences were run in all
 * @param nanos how long that took in all
 */
public record ProfileTable(
        List<SortedSet<Integer>> partitions,
        List<Entry> entries,
        Candidate chosen,
        String reason,
        int inferences,
        long nanos) {

    public ProfileTable {
        partitions = copy(partitions);
        entries = ImmutableList.copyOf(entries);
        Candidate wanted = chosen;
        boolean measured =
                entries.stream()
                        .anyMatch(e -> e instanceof Entry.Measured && e.candidate().equals(wanted));
        checkArgument(measured || !chosen.delegates(), "%s was not measured", chosen);
        checkArgument(inferences >= 0 && nanos >= 0, "%s inferences, %s ns", inferences, nanos);
    }

    private static List<SortedSet<Integer>> copy(Collection<? extends SortedSet<Integer>> sets) {
        return sets.stream()
                .<SortedSet<Integer>>map(ImmutableSortedSet::copyOf)
                .collect(ImmutableList.toImmutableList());
    }
}
