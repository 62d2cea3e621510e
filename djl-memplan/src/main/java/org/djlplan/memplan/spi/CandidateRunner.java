package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * Runs candidates of one model, to measure them as they would run in an application: in the planned
 * arena, with random inputs from fixed seeds. Several can be prepared at once and timed in turns.
 * Not thread-safe.
 *
 * <p>An exception concerns its candidate only: that candidate is no longer prepared, but the others
 * are (if their process died, they are prepared again on the next call). Interrupting the thread
 * ends a call; after that, and after a {@link NoRoomException}, the runner can only be closed.
 */
public interface CandidateRunner extends AutoCloseable {

    /**
     * Returns the partitions that the delegate reports if it is offered everything it supports:
     * sets of operators, in execution order of their first one. A model with {@linkplain
     * DelegableModel#recipes recipes} has none.
     *
     * @throws CandidateException if the delegate cannot inspect the model
     */
    default List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        return List.of();
    }

    /**
     * Builds a candidate, runs it a few times and compares its outputs with stock's, until one of
     * them is unacceptable. For a prepared candidate it only returns the same result again.
     */
    Trial prepare(Candidate candidate) throws CandidateException, InterruptedException;

    /**
     * Times inferences of a prepared candidate; for a fast one, after an untimed inference that
     * loads its weights into the caches. If there are several measured shapes, an inference is the
     * mean over all of them, weighted by how often they occur.
     *
     * @return the duration of each in nanoseconds
     */
    long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException;

    /**
     * Times one inference of a prepared candidate at each measured shape, for the check that a
     * recipe is not slower than stock at one of them.
     *
     * @return nanoseconds by shape, in the same order for all candidates
     */
    default long[] timeEachShape(Candidate candidate)
            throws CandidateException, InterruptedException {
        return time(candidate, 1);
    }

    /**
     * Times the nodes of a prepared candidate over some inferences, after one untimed one; empty if
     * the engine does not report them.
     */
    default List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        return List.of();
    }

    /**
     * Returns the nanoseconds since an arbitrary moment in which candidates could run and be
     * prepared: the elapsed time, without the time in which the runner waited for other processes.
     */
    default long workedNanos() {
        return System.nanoTime();
    }

    /** Returns a remark on the times, such as that other work disturbed them. */
    default Optional<String> caveat() {
        return Optional.empty();
    }

    /** Frees the resources of {@link #prepare}. */
    void release(Candidate candidate);

    /** Frees everything. */
    @Override
    void close();

    /**
     * The result of the first runs of a candidate.
     *
     * @param kernels number of delegate kernels; 0 for stock and for recipes
     * @param errors of the outputs, in order, compared with stock's outputs; at several shapes, the
     *     largest of each output
     * @param memoryBytes growth of the process's anonymous resident memory by this candidate alone:
     *     weights, workspaces and the arena. 0 if the system does not report it
     * @param inferences number of runs
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
