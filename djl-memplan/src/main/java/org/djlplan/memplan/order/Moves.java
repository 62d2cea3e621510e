package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The states that may follow a state.
 *
 * <p>When a node, or a chain of nodes each of which makes the next one ready, ends with no more
 * alive than now, without a breadth above what is paid already, then executing it now is as good as
 * any other choice: in any order that goes on otherwise, moving it to the front makes no state
 * larger, since what a node adds to the tensors alive never grows with the set of executed nodes.
 * Only that state is returned then.
 */
final class Moves {

    /** Longer chains are followed step by step. */
    private static final int LONGEST_CHAIN = 16;

    private final Segment segment;
    private final long paidBytes;
    private final Effort effort;

    /**
     * @param paidBytes a breadth that no order of the whole graph can avoid
     */
    Moves(Segment segment, long paidBytes, Effort effort) {
        this.segment = segment;
        this.paidBytes = paidBytes;
        this.effort = effort;
    }

    /** Returns the maximum breadth so far, or what cannot be avoided. */
    long peakBytes(State state) {
        return Math.max(paidBytes, state.peakBytes());
    }

    List<State> from(State state) {
        ImmutableList.Builder<State> all = ImmutableList.builder();
        for (int node : state.ready()) {
            State next = execute(state, node);
            all.add(next);
            Optional<State> free = withoutCost(state, next);
            if (free.isPresent()) {
                return ImmutableList.of(free.get());
            }
        }
        return all.build();
    }

    private State execute(State state, int node) {
        effort.spend(segment.costOf(node));
        return segment.execute(state, node);
    }

    private Optional<State> withoutCost(State from, State first) {
        long mostBytes = peakBytes(from);
        int others = from.ready().length - 1;
        State state = first;
        for (int length = 1; state.peakBytes() <= mostBytes; length++) {
            if (state.aliveBytes() <= from.aliveBytes()) {
                return Optional.of(state);
            }
            if (length == LONGEST_CHAIN || state.ready().length != others + 1) {
                return Optional.empty();
            }
            state = execute(state, newlyReady(from, state));
        }
        return Optional.empty();
    }

    /** Returns the one node that is ready now but was not at the beginning of the chain. */
    private static int newlyReady(State from, State now) {
        for (int node : now.ready()) {
            if (Arrays.binarySearch(from.ready(), node) < 0) {
                return node;
            }
        }
        throw new IllegalStateException("nothing became ready");
    }
}
