package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.spi.Candidate;

/**
 * The result of one profiling run.
 *
 * @param partitions what the delegate could take: sets of operators, in execution order
 * @param entries what was tried, in the order in which it was
 * @param chosen the candidate to use: one that was measured, or the CPU kernels where nothing could
 *     be measured
 * @param lighter those to use beside other predictions: the best of each smaller number of threads,
 *     most threads first; all were measured
 * @param reason why, in one line
 * @param caveat what is to be known about the times: that others disturbed them, for example
 * @param inferences how many inferences were run in all
 * @param nanos how long that took in all
 */
public record ProfileTable(
        List<SortedSet<Integer>> partitions,
        List<Entry> entries,
        Candidate chosen,
        List<Candidate> lighter,
        String reason,
        Optional<String> caveat,
        int inferences,
        long nanos) {

    public ProfileTable {
        partitions = copy(partitions);
        entries = ImmutableList.copyOf(entries);
        lighter = ImmutableList.copyOf(lighter);
        checkArgument(
                !chosen.delegates() || measured(entries, chosen).isPresent(),
                "%s was not measured",
                chosen);
        int threads = chosen.threads();
        for (Candidate next : lighter) {
            checkArgument(measured(entries, next).isPresent(), "%s was not measured", next);
            checkArgument(
                    next.threads() > 0 && (threads == -1 || next.threads() < threads),
                    "%s threads after %s",
                    next.threads(),
                    threads);
            threads = next.threads();
        }
        checkArgument(inferences >= 0 && nanos >= 0, "%s inferences, %s ns", inferences, nanos);
    }

    /** A table of a choice for any load, without a caveat. */
    public ProfileTable(
            List<SortedSet<Integer>> partitions,
            List<Entry> entries,
            Candidate chosen,
            String reason,
            int inferences,
            long nanos) {
        this(partitions, entries, chosen, List.of(), reason, Optional.empty(), inferences, nanos);
    }

    /** Returns what was measured of a candidate; empty if it was not, or failed or was wrong. */
    public Optional<Entry.Measured> measured(Candidate candidate) {
        return measured(entries, candidate);
    }

    private static Optional<Entry.Measured> measured(List<Entry> entries, Candidate candidate) {
        return entries.stream()
                .filter(entry -> entry.candidate().equals(candidate))
                .filter(Entry.Measured.class::isInstance)
                .map(Entry.Measured.class::cast)
                .findFirst();
    }

    /** Returns the same with something to be known about the times. */
    public ProfileTable with(Optional<String> caution) {
        return new ProfileTable(
                partitions, entries, chosen, lighter, reason, caution, inferences, nanos);
    }

    private static List<SortedSet<Integer>> copy(Collection<? extends SortedSet<Integer>> sets) {
        return sets.stream().<SortedSet<Integer>>map(ImmutableSortedSet::copyOf).toList();
    }
}
