package org.djlplan.delegation.store;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableLongArray;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.NodeTime;
import org.djlplan.memplan.spi.Trial;

/**
 * What was found out before measuring was interrupted.
 *
 * @param partitions what the delegate could take; empty if it was not asked
 * @param candidates what is known of each that was run
 */
public record PartialResult(
        Optional<List<Set<Integer>>> partitions, Map<Candidate, Known> candidates) {

    /** Nothing. */
    public static final PartialResult NONE = new PartialResult(Optional.empty(), Map.of());

    /** Nothing of a candidate. */
    public static final Known UNKNOWN =
            new Known(Optional.empty(), Optional.empty(), 0, List.of(), 0, ImmutableLongArray.of());

    public PartialResult {
        partitions = partitions.map(ImmutableList::copyOf);
        candidates = ImmutableMap.copyOf(candidates);
    }

    /**
     * What is known of a candidate.
     *
     * @param trial what its first runs showed; empty if it was not prepared
     * @param failure how its process ended; empty if it did not
     * @param prepareNanos how long preparing it took
     * @param nodes times of its nodes; empty if it was not profiled
     * @param profileNanos how long that took
     * @param times nanoseconds of each inference that was timed, in their order
     */
    public record Known(
            Optional<Trial> trial,
            Optional<Failure> failure,
            long prepareNanos,
            List<NodeTime> nodes,
            long profileNanos,
            ImmutableLongArray times) {

        public Known {
            nodes = ImmutableList.copyOf(nodes);
        }
    }

    /** How a candidate failed. */
    public record Failure(CandidateException.Kind kind, String message) {}
}
