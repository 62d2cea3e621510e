package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedSet;
import java.util.SortedSet;

/**
 * One way to run a model: which of its operators the delegate gets, and how many threads.
 *
 * @param operators their indices in the graph, in ascending order; empty for the CPU kernels alone
 * @param threads the engine's and the delegate's threads per prediction, −1 for their default
 */
public record Candidate(SortedSet<Integer> operators, int threads) {

    public Candidate {
        operators = ImmutableSortedSet.copyOf(operators);
        checkArgument(operators.isEmpty() || operators.first() >= 0, "operators: %s", operators);
        checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
    }

    /** Returns the candidate that delegates nothing. */
    public static Candidate cpu(int threads) {
        return new Candidate(ImmutableSortedSet.of(), threads);
    }

    /** Returns whether anything is delegated. */
    public boolean delegates() {
        return !operators.isEmpty();
    }

    /** As every record's, but without what those link at their first use, which takes long. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Candidate candidate
                && threads == candidate.threads
                && operators.equals(candidate.operators);
    }

    @Override
    public int hashCode() {
        return 31 * operators.hashCode() + threads;
    }
}
