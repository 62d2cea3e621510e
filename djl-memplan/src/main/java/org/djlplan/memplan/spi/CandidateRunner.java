package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/**
 * A runner of candidates of one model, to measure them as they would run in an application: in the
 * planned arena, with random inputs of fixed seeds. Several may be prepared at once and be timed in
 * turns. For one thread at a time.
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

    /**
     * The first runs of a candidate, and what they showed.
     *
     * @param kernels how many delegate kernels its operators became
     * @param errors of the outputs against the CPU kernels, in their order
     * @param memoryBytes what the process's anonymous resident memory grew by: packed weights,
     *     workspaces and the arena. 0 where the system does not tell
     * @param inferences how many runs this took
     */
    record Trial(int kernels, List<OutputError> errors, long memoryBytes, int inferences) {

        public Trial {
            checkArgument(kernels >= 0, "kernels: %s", kernels);
            checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
            checkArgument(inferences >= 0, "inferences: %s", inferences);
            errors = ImmutableList.copyOf(errors);
        }
    }

    /**
     * The time of one node: an operator in its CPU kernel, or all operators of one delegate kernel.
     *
     * @param operators their indices in the graph
     * @param delegated whether the delegate runs them
     * @param nanos median of several runs
     */
    record NodeTime(SortedSet<Integer> operators, boolean delegated, long nanos) {

        public NodeTime {
            operators = ImmutableSortedSet.copyOf(operators);
            checkArgument(!operators.isEmpty(), "a node without operators");
            checkArgument(nanos >= 0, "nanos: %s", nanos);
        }
    }
}
