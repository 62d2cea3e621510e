package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Collection;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A configuration of a model: the operators that the delegate gets, the number of threads, and
 * whether the delegate keeps its buffers.
 *
 * @param operators their indices in the graph, in ascending order; empty for the CPU kernels alone
 * @param threads the engine's and the delegate's threads per prediction, −1 for their default
 * @param transientBuffers whether the delegate builds its indirection buffers for each prediction
 *     instead of keeping them, which takes less memory and more time
 */
public record Candidate(SortedSet<Integer> operators, int threads, boolean transientBuffers) {

    public Candidate {
        operators =
                Collections.unmodifiableSortedSet(new TreeSet<>((Collection<Integer>) operators));
        checkArgument(operators.isEmpty() || operators.first() >= 0, "operators: %s", operators);
        checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
        checkArgument(!transientBuffers || !operators.isEmpty(), "buffers of no delegate");
    }

    /** Creates a candidate whose delegate keeps its buffers. */
    public Candidate(SortedSet<Integer> operators, int threads) {
        this(operators, threads, false);
    }

    /** Returns the candidate that delegates nothing. */
    public static Candidate cpu(int threads) {
        return new Candidate(Collections.emptySortedSet(), threads);
    }

    /** Returns whether anything is delegated. */
    public boolean delegates() {
        return !operators.isEmpty();
    }

    /** Returns this candidate with another number of threads. */
    public Candidate withThreads(int other) {
        return new Candidate(operators, other, transientBuffers);
    }

    /** Returns this candidate with buffers that are built for each prediction. */
    public Candidate withTransientBuffers() {
        return new Candidate(operators, threads, true);
    }
}
