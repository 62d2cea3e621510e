package org.djlplan.delegation.cli;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.Sets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.delegation.partition.PieceGraph;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Goal.Objective;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;

/**
 * Whether loads may use what an exhaustive run found. It measures unions of whole partitions only,
 * so it may know less than a usual run, which also looks into partitions: always if memory counts,
 * and where a partition is hardly faster in the delegate.
 */
final class ExhaustiveResult {

    /** Of more partitions not all unions are measured. */
    static final int MOST_PARTITIONS = 10;

    private ExhaustiveResult() {}

    /**
     * Returns why a table is not to be kept; empty if it is.
     *
     * @param threads the settings that were to be measured
     * @param kept what loads use until now
     */
    static Optional<String> objection(
            Graph graph,
            Goal goal,
            List<Integer> threads,
            ProfileTable table,
            Optional<ProfileTable> kept) {
        if (goal.objective() != Objective.LATENCY || goal.maxMemoryBytes().isPresent()) {
            return Optional.of("where memory counts, parts of partitions are to be measured, too");
        }
        PieceGraph units = PieceGraph.of(graph, table.partitions(), 1);
        int partitions = units.pieces().size();
        if (partitions > MOST_PARTITIONS) {
            return Optional.of(
                    "not all unions of %d partitions were measured".formatted(partitions));
        }
        Set<Candidate> tried =
                table.entries().stream().map(Entry::candidate).collect(Collectors.toSet());
        long sets = (1L << partitions) * threads.size();
        long measured =
                Sets.powerSet(ContiguousSet.closedOpen(0, partitions)).stream()
                        .flatMap(
                                union ->
                                        threads.stream()
                                                .map(n -> new Candidate(units.operators(union), n)))
                        .filter(tried::contains)
                        .count();
        if (measured < sets) {
            return Optional.of(
                    "%d of %d sets were measured within the budget".formatted(measured, sets));
        }
        return kept.map(ProfileTable::chosen)
                .filter(chosen -> !tried.contains(chosen))
                .map(chosen -> "the set that was measured before has parts of partitions");
    }
}
