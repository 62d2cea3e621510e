package org.djlplan.delegation.store;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.delegation.table.Tolerance;
import org.djlplan.memplan.spi.Candidate;

/**
 * What is asked of a table. Whoever can write a model's folder can write a table with a right
 * checksum: one is believed only if measuring for this request could have made it, given its
 * partitions, which are not compared with those that the delegate reports.
 *
 * @param threads the numbers of threads to choose from
 * @param goal what the choice is to reach
 * @param tolerance the largest error of a candidate's outputs
 */
public record Wanted(List<Integer> threads, Goal goal, Tolerance tolerance) {

    public Wanted {
        threads = ImmutableList.copyOf(threads);
    }

    /**
     * Does nothing if a table may be believed.
     *
     * @throws IOException if not; the message says why
     */
    void check(ProfileTable table) throws IOException {
        Set<Integer> offered = new HashSet<>();
        table.partitions().forEach(offered::addAll);
        check(table.chosen(), offered);
        for (Entry entry : table.entries()) {
            check(entry.candidate(), offered);
        }
        Optional<Entry.Measured> chosen = chosen(table);
        if (chosen.isPresent()) {
            check(chosen.get());
        }
    }

    private void check(Candidate candidate, Set<Integer> offered) throws IOException {
        if (!threads.contains(candidate.threads())) {
            throw new IOException(
                    "a set with " + candidate.threads() + " threads, where " + threads + " may be");
        }
        if (!offered.containsAll(candidate.operators())) {
            throw new IOException("a set of operators that the delegate did not offer");
        }
    }

    private static Optional<Entry.Measured> chosen(ProfileTable table) {
        return table.entries().stream()
                .filter(entry -> entry.candidate().equals(table.chosen()))
                .filter(Entry.Measured.class::isInstance)
                .map(Entry.Measured.class::cast)
                .findFirst();
    }

    /** The CPU kernels are the choice also where nothing is good enough, themselves included. */
    private void check(Entry.Measured chosen) throws IOException {
        if (!chosen.candidate().delegates()) {
            return;
        }
        if (!chosen.errors().stream().allMatch(tolerance::admits)) {
            throw new IOException("a choice with outputs outside the tolerance");
        }
        if (goal.maxMemoryBytes().isPresent()
                && chosen.memoryBytes() > goal.maxMemoryBytes().getAsLong()) {
            throw new IOException("a choice of " + chosen.memoryBytes() + " bytes, over the limit");
        }
    }
}
