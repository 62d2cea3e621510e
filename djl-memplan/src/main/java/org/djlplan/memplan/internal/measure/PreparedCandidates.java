package org.djlplan.memplan.internal.measure;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.Trial;

/**
 * The candidates that measuring processes have prepared. A new process has none of them, but
 * prepares them again on request; the result of a candidate's first preparation stays until the
 * candidate is forgotten. Not thread-safe.
 */
final class PreparedCandidates {

    /** The results of candidates that were not forgotten, in any process. */
    private final Map<Candidate, Trial> trials = new HashMap<>();

    /** The slowest inference of each of them. */
    private final Map<Candidate, Long> slowestNanos = new HashMap<>();

    /** Those that the current process has prepared. */
    private final Set<Candidate> inProcess = new HashSet<>();

    /** Returns the result of a candidate that some process has prepared. */
    Optional<Trial> trial(Candidate candidate) {
        return Optional.ofNullable(trials.get(candidate));
    }

    /** Returns whether the current process has prepared a candidate. */
    boolean isInProcess(Candidate candidate) {
        return inProcess.contains(candidate);
    }

    /** Returns the number of candidates that the current process has prepared. */
    int countInProcess() {
        return inProcess.size();
    }

    /**
     * Returns the slowest inference of a candidate that the current process has prepared, in
     * nanoseconds.
     */
    long slowestNanos(Candidate candidate) {
        return slowestNanos.get(candidate);
    }

    /**
     * Adds a candidate that the current process has prepared.
     *
     * @param nanosEach duration of each inference of the preparation
     * @return the result of its first preparation
     */
    Trial add(Candidate candidate, Trial trial, long nanosEach) {
        noteInference(candidate, nanosEach);
        inProcess.add(candidate);
        Trial first = trials.putIfAbsent(candidate, trial);
        return first == null ? trial : first;
    }

    /** Adds the duration of a candidate's inference. */
    void noteInference(Candidate candidate, long nanos) {
        slowestNanos.merge(candidate, nanos, Math::max);
    }

    /** Forgets a candidate, which was released or failed. */
    void forget(Candidate candidate) {
        trials.remove(candidate);
        slowestNanos.remove(candidate);
        inProcess.remove(candidate);
    }

    /** Forgets the current process, which ended; results of candidates stay. */
    void forgetProcess() {
        inProcess.clear();
    }
}
