package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The result of one profiling run.
 *
 * @param partitions reported by the delegate: sets of operators, in execution order
 * @param entries candidates that were tried, in the order of the trials
 * @param chosen the candidate to use: a measured one, or the CPU kernels if nothing could be
 *     measured
 * @param lighter the candidates to use while other predictions run: the best of each smaller number
 *     of threads, most threads first; all were measured
 * @param reason of the choice, in one line
 * @param caveat a remark on the times, such as that other work disturbed them
 * @param inferences total number of inferences
 * @param nanos total duration
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

    /** Creates a table whose choice holds for any load, without a caveat. */
    public ProfileTable(
            List<SortedSet<Integer>> partitions,
            List<Entry> entries,
            Candidate chosen,
            String reason,
            int inferences,
            long nanos) {
        this(partitions, entries, chosen, List.of(), reason, Optional.empty(), inferences, nanos);
    }

    /**
     * Returns the measurement of a candidate; empty if it was not measured, failed or was wrong.
     */
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

    /** Returns this table with a remark on the times. */
    public ProfileTable with(Optional<String> caution) {
        return new ProfileTable(
                partitions, entries, chosen, lighter, reason, caution, inferences, nanos);
    }

    private static List<SortedSet<Integer>> copy(Collection<? extends SortedSet<Integer>> sets) {
        return sets.stream().<SortedSet<Integer>>map(ImmutableSortedSet::copyOf).toList();
    }
}
