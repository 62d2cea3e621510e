package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.spi.NativeDelegate;

/**
 * What an interpreter is to be like.
 *
 * @param threads number of threads, −1 for the engine's default
 * @param planned tensors whose memory, like that of temporaries, the caller places; empty for an
 *     interpreter that has its own
 * @param delegated what is delegated
 * @param timed whether each node's time is taken
 */
record SessionSpec(
        int threads,
        Optional<List<Integer>> planned,
        Optional<Delegated> delegated,
        boolean timed) {

    /**
     * What is delegated.
     *
     * @param delegate takes it; not closed with the session
     * @param operators what it may take
     */
    record Delegated(NativeDelegate delegate, SortedSet<Integer> operators) {

        Delegated {
            operators = ImmutableSortedSet.copyOf(operators);
        }
    }

    SessionSpec {
        planned = planned.map(ImmutableList::copyOf);
    }

    /** Returns an interpreter as the engine makes it. */
    static SessionSpec stock(int threads) {
        return new SessionSpec(threads, Optional.empty(), Optional.empty(), false);
    }
}
