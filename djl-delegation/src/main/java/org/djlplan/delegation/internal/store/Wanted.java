package org.djlplan.delegation.internal.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.partition.Dataflow;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult.Known;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The request that a stored value must match. Anyone with write access to a model's folder can
 * write a file with a right checksum, so a stored value is accepted only if measuring for this
 * request could have produced it. Sets of operators must consist of the delegate's partitions, as
 * far as these are known: a load does not wait for the delegate's report, and uses the partitions
 * in the file until then.
 *
 * @param request whose answers are acceptable
 * @param partitions reported by the delegate; empty if they are not known yet
 */
public record Wanted(Request request, Optional<List<Set<Integer>>> partitions) {

    /** Limit of a measurement's nanoseconds, two weeks; sums of smaller numbers do not overflow. */
    private static final long MOST_NANOS = 1L << 50;

    /** Limit of the number of runs for a candidate's outputs; a measurement takes a few. */
    private static final int MOST_INFERENCES = 1000;

    public Wanted {
        partitions = partitions.map(ImmutableList::copyOf);
    }

    /** Returns this request with the partitions that the delegate reports. */
    public Wanted of(List<Set<Integer>> reported) {
        return new Wanted(request, Optional.of(reported));
    }

    /** Returns whether a table is acceptable. */
    public boolean admits(ProfileTable table) {
        try {
            check(table);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Checks that a table is acceptable.
     *
     * @throws IOException if not; the message says why
     */
    void check(ProfileTable table) throws IOException {
        Sets sets = new Sets(table.partitions());
        List<Candidate> served = new ArrayList<>(table.lighter());
        served.add(table.chosen());
        for (Candidate candidate : served) {
            sets.check(candidate);
        }
        for (Entry entry : table.entries()) {
            sets.checkOffered(entry.candidate());
        }
        for (Candidate candidate : served) {
            Optional<Entry.Measured> measured = table.measured(candidate);
            if (measured.isPresent()) {
                check(measured.get());
            }
        }
    }

    /** The CPU kernels can be chosen even if no candidate is acceptable, including themselves. */
    private void check(Entry.Measured chosen) throws IOException {
        if (!chosen.candidate().delegates()) {
            return;
        }
        request.acceptance().check(chosen, request.goal().maxMemoryBytes().orElse(Long.MAX_VALUE));
    }

    /**
     * Checks that stored answers can be used again.
     *
     * @throws IOException if not; the message says why
     */
    void check(PartialResult result) throws IOException {
        if (result.partitions().isEmpty()) {
            if (!result.candidates().isEmpty()) {
                throw new IOException("candidates before the delegate was asked");
            }
            return;
        }
        Sets sets = new Sets(result.partitions().get());
        double nanos = 0;
        for (Map.Entry<Candidate, Known> entry : result.candidates().entrySet()) {
            sets.check(entry.getKey());
            nanos += nanos(entry.getValue());
            if (entry.getValue().trial().isPresent()) {
                check(entry.getKey(), entry.getValue().trial().get());
            }
            check(entry.getKey(), entry.getValue().nodes());
        }
        if (nanos > MOST_NANOS) {
            throw new IOException("a measurement of more than two weeks");
        }
    }

    private static double nanos(Known known) throws IOException {
        double nanos = (double) known.prepareNanos() + known.profileNanos();
        boolean negative = known.prepareNanos() < 0 || known.profileNanos() < 0;
        for (int i = 0; i < known.times().length(); i++) {
            nanos += known.times().get(i);
            negative |= known.times().get(i) < 0;
        }
        for (NodeTime node : known.nodes()) {
            nanos += node.nanos();
        }
        if (negative) {
            throw new IOException("a negative number of nanoseconds");
        }
        return nanos;
    }

    private void check(Candidate candidate, Trial trial) throws IOException {
        request.acceptance().check(trial.errors());
        if (trial.kernels() > candidate.operators().size()) {
            throw new IOException("more delegate kernels than operators for them");
        }
        if (trial.inferences() > MOST_INFERENCES) {
            throw new IOException(trial.inferences() + " inferences to compare outputs");
        }
    }

    /** Each operator is in one node: alone, or with others of the candidate in the delegate. */
    private static void check(Candidate candidate, List<NodeTime> nodes) throws IOException {
        Set<Integer> seen = new HashSet<>();
        for (NodeTime node : nodes) {
            boolean fits =
                    node.delegated()
                            ? candidate.operators().containsAll(node.operators())
                            : node.operators().size() == 1;
            if (!fits || !node.operators().stream().allMatch(seen::add)) {
                throw new IOException("times of nodes that the candidate does not have");
            }
        }
    }

    /** The possible sets of operators for some partitions. */
    private final class Sets {

        private final Set<Integer> offered = new HashSet<>();

        /**
         * @param kept the partitions in the file
         */
        Sets(Collection<? extends Set<Integer>> kept) throws IOException {
            if (partitions.isPresent() && !partitions.get().equals(ImmutableList.copyOf(kept))) {
                throw new IOException("other partitions than the delegate reports");
            }
            for (Set<Integer> partition : kept) {
                for (int operator : partition) {
                    if (!offered.add(operator)) {
                        throw new IOException("an operator in two partitions");
                    }
                    if (request.excluded().contains(operator)) {
                        throw new IOException("an operator that is excluded");
                    }
                }
            }
        }

        void checkOffered(Candidate candidate) throws IOException {
            boolean engines = !candidate.delegates() && candidate.threads() == -1;
            if (!request.threads().contains(candidate.threads()) && !engines) {
                throw new IOException(
                        "a set with "
                                + candidate.threads()
                                + " threads, where "
                                + request.threads()
                                + " may be");
            }
            if (candidate.transientBuffers() && !request.triesTransientBuffers()) {
                throw new IOException("a set with buffers that nobody asked for");
            }
            if (!offered.containsAll(candidate.operators())) {
                throw new IOException("a set of operators that the delegate did not offer");
            }
        }

        /** A set is wrong if the delegate unpacks a constant for only some of its readers. */
        void check(Candidate candidate) throws IOException {
            checkOffered(candidate);
            if (Dataflow.splitsConstants(request.graph(), candidate.operators())) {
                throw new IOException("a constant that is unpacked for some of its readers");
            }
        }
    }
}
