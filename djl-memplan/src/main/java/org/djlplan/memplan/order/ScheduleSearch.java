package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * Searches the schedules of one segment, step by step over the sets of executed nodes: by beam,
 * which proves nothing, or exactly.
 *
 * <p>Of all schedules that lead to a set only one with the smallest maximum breadth is kept, since
 * what is alive depends on the set alone (Ahn et al. 2020, section 3.1: dynamic programming).
 *
 * <p>When a node, or a chain of nodes each of which makes the next one ready, ends with no more
 * alive than now, without a breadth above what is paid already, then executing it now is as good as
 * any other choice: in any schedule that goes on otherwise, moving it to the front makes no state
 * larger, since what a node adds to the tensors alive never grows with the set of executed nodes.
 * Only that state is followed then.
 */
final class ScheduleSearch {

    /** Longer chains are followed step by step. */
    private static final int LONGEST_CHAIN = 16;

    private static final int BEAM_WIDTH = 16;
    private static final int MOST_STATES = 100_000;

    private final Segment segment;
    private final long paidBytes;
    private final SegmentSearch.Effort effort;

    /**
     * @param paidBytes a breadth that no order of the whole graph can avoid
     */
    ScheduleSearch(Segment segment, long paidBytes, SegmentSearch.Effort effort) {
        this.segment = segment;
        this.paidBytes = paidBytes;
        this.effort = effort;
    }

    /**
     * Returns a schedule of the whole segment with a smaller maximum breadth, if one is found.
     *
     * <p>Goes on from the few most promising sets of executed nodes only: those with the smallest
     * maximum breadth so far, of these with the least alive, ties in the order in which they were
     * found. For n nodes of which r are ready at a time, O(width · n · r) executed nodes.
     */
    Optional<State> beamBelow(long knownBytes) {
        Comparator<State> order =
                Comparator.comparingLong(this::peakBytes).thenComparingLong(State::aliveBytes);
        long bestBytes = knownBytes;
        Optional<State> best = Optional.empty();
        List<State> beam = List.of(segment.start());
        while (!beam.isEmpty()) {
            Map<State.Key, State> next = new LinkedHashMap<>();
            for (State state : beam) {
                for (State after : successors(state)) {
                    if (peakBytes(after) >= bestBytes) {
                        continue;
                    }
                    if (after.count() == segment.size()) {
                        best = Optional.of(after);
                        bestBytes = peakBytes(after);
                    } else {
                        next.merge(after.key(), after, ScheduleSearch::smaller);
                    }
                }
            }
            List<State> sorted = new ArrayList<>(next.values());
            sorted.sort(order);
            // Without effort left, the rest is greedy.
            int width = effort.exhausted() ? 1 : BEAM_WIDTH;
            beam = sorted.subList(0, Math.min(width, sorted.size()));
        }
        return best;
    }

    private static State smaller(State one, State other) {
        return one.peakBytes() <= other.peakBytes() ? one : other;
    }

    /**
     * The end of an exact search.
     *
     * @param better a schedule of the whole segment with a smaller maximum breadth than was known
     * @param lowerBoundBytes the largest breadth that every schedule is proved to reach
     */
    record Outcome(Optional<State> better, long lowerBoundBytes) {}

    /** A state and when it was found, so that ties are broken alike in every run. */
    private record Open(State state, long peakBytes, int number) {

        private static final Comparator<Open> ORDER =
                Comparator.comparingLong(Open::peakBytes)
                        .thenComparing(open -> open.state().count(), Comparator.reverseOrder())
                        .thenComparingLong(open -> open.state().aliveBytes())
                        .thenComparingInt(Open::number);
    }

    /**
     * Searches for a schedule with a smaller maximum breadth than {@code knownBytes}.
     *
     * <p>Sets are taken up by their breadth, smallest first, and larger sets before smaller ones,
     * as Dijkstra's algorithm does for paths of which the widest edge counts; so the first schedule
     * of the whole segment is a smallest one, and no set with a breadth above it is looked at.
     * Schedules that are no better than the known one are cut off. Up to one set per down-closed
     * set of nodes, so exponential in the width of the graph; ends without a proof when its effort
     * is spent.
     */
    Outcome exactBelow(long knownBytes) {
        PriorityQueue<Open> open = new PriorityQueue<>(Open.ORDER);
        Map<State.Key, Long> best = new HashMap<>();
        int number = 0;
        open.add(new Open(segment.start(), peakBytes(segment.start()), number++));
        while (!open.isEmpty()) {
            Open next = open.remove();
            State state = next.state();
            if (state.count() == segment.size()) {
                return new Outcome(Optional.of(state), next.peakBytes());
            }
            if (effort.exhausted() || best.size() > MOST_STATES) {
                return new Outcome(Optional.empty(), next.peakBytes());
            }
            if (best.getOrDefault(state.key(), Long.MAX_VALUE) < next.peakBytes()) {
                continue;
            }
            for (State after : successors(state)) {
                long peakBytes = peakBytes(after);
                State.Key key = after.key();
                if (peakBytes < knownBytes && peakBytes < best.getOrDefault(key, Long.MAX_VALUE)) {
                    best.put(key, peakBytes);
                    open.add(new Open(after, peakBytes, number++));
                }
            }
        }
        return new Outcome(Optional.empty(), knownBytes);
    }

    /** Returns the maximum breadth so far, or what cannot be avoided. */
    private long peakBytes(State state) {
        return Math.max(paidBytes, state.peakBytes());
    }

    /** Returns the states that may follow a state. */
    private List<State> successors(State state) {
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
