package org.djlplan.memplan.spi;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs candidates of one model to measure them, as they would run in an application: in the planned
 * arena, with random inputs of fixed seeds. Several may be prepared at once and be timed in turns.
 * For one thread at a time.
 *
 * <p>An exception concerns its candidate only: it is no longer prepared, the others stay so (if
 * their process died, they are prepared again when they are asked for). Interrupting the thread
 * ends a call; the runner is then only good for closing, as it is after a {@link NoRoomException}.
 */
public interface CandidateRunner extends AutoCloseable {

    /**
     * Returns the partitions that the delegate reports when it may take everything it supports:
     * sets of operators, in execution order of their first one.
     *
     * @throws CandidateException if the delegate cannot look at the model
     */
    List<Set<Integer>> partitions() throws CandidateException, InterruptedException;

    /**
     * Builds a candidate, runs it a few times and compares its outputs with those of the CPU
     * kernels, until one of them cannot be accepted. Does nothing for one that is prepared, but
     * answers the same.
     */
    Trial prepare(Candidate candidate) throws CandidateException, InterruptedException;

    /**
     * Times inferences of a prepared candidate; if it is fast, after one untimed one that brings
     * its weights into the caches.
     *
     * @return nanoseconds of each
     */
    long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException;

    /** Times the nodes of a prepared candidate over some inferences, after one untimed one. */
    List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException;

    /**
     * Returns how many nanoseconds candidates could run and be prepared since some moment: time,
     * without that in which the runner waited for others.
     */
    default long workedNanos() {
        return System.nanoTime();
    }

    /** Returns what is to be known about the times: that others disturbed them, for example. */
    default Optional<String> caveat() {
        return Optional.empty();
    }

    /** Frees what {@link #prepare} built. */
    void release(Candidate candidate);

    /** Frees everything. */
    @Override
    void close();
}
