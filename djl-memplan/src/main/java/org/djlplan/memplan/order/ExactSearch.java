package org.djlplan.memplan.order;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * Dynamic programming over the sets of executed nodes (Ahn et al. 2020, section 3.1): of all ways
 * to a set only one with the smallest maximum breadth is kept, since what is alive depends on the
 * set alone.
 *
 * <p>Sets are taken up by that breadth, smallest first, and larger sets before smaller ones, as
 * Dijkstra's algorithm does for paths of which the widest edge counts; so the first way to the
 * whole segment is a smallest one, and no set with a breadth above it is looked at. Ways that are
 * no better than a known order are cut off. Up to one set per down-closed set of nodes, so
 * exponential in the width of the graph; ends without a proof when its effort is spent.
 */
final class ExactSearch {

    private static final int MOST_STATES = 100_000;

    private final Segment segment;
    private final Moves moves;
    private final Effort effort;

    /** A state and when it was found, so that ties are broken alike in every run. */
    private record Open(State state, long peakBytes, int number) {}

    private static final Comparator<Open> ORDER =
            Comparator.comparingLong(Open::peakBytes)
                    .thenComparing(open -> open.state().count(), Comparator.reverseOrder())
                    .thenComparingLong(open -> open.state().aliveBytes())
                    .thenComparingInt(Open::number);

    /**
     * @param paidBytes a breadth that no order of the whole graph can avoid
     */
    ExactSearch(Segment segment, long paidBytes, Effort effort) {
        this.segment = segment;
        this.effort = effort;
        moves = new Moves(segment, paidBytes, effort);
    }

    /**
     * What a search ended with.
     *
     * @param better a way through the whole segment with a smaller maximum breadth than was known
     * @param lowerBoundBytes what no way goes below, as far as it is proved
     */
    record Outcome(Optional<State> better, long lowerBoundBytes) {}

    /** Searches for a way with a smaller maximum breadth than {@code knownBytes}. */
    Outcome below(long knownBytes) {
        PriorityQueue<Open> open = new PriorityQueue<>(ORDER);
        Map<DoneSet, Long> best = new HashMap<>();
        int found = 0;
        open.add(new Open(segment.start(), moves.peakBytes(segment.start()), found++));
        while (!open.isEmpty()) {
            Open next = open.remove();
            State state = next.state();
            if (state.count() == segment.size()) {
                return new Outcome(Optional.of(state), next.peakBytes());
            }
            if (effort.exhausted() || best.size() > MOST_STATES) {
                return new Outcome(Optional.empty(), next.peakBytes());
            }
            if (best.getOrDefault(new DoneSet(state.done()), Long.MAX_VALUE) < next.peakBytes()) {
                continue;
            }
            for (State after : moves.from(state)) {
                long peakBytes = moves.peakBytes(after);
                DoneSet key = new DoneSet(after.done());
                if (peakBytes < knownBytes && peakBytes < best.getOrDefault(key, Long.MAX_VALUE)) {
                    best.put(key, peakBytes);
                    open.add(new Open(after, peakBytes, found++));
                }
            }
        }
        return new Outcome(Optional.empty(), knownBytes);
    }
}
