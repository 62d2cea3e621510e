package org.djlplan.memplan.order;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Goes on, step by step, from the few most promising sets of executed nodes only: those with the
 * smallest maximum breadth so far, of these with the least alive. Proves nothing. For n nodes of
 * which r are ready at a time, O(width · n · r) executed nodes.
 */
final class BeamSearch {

    private static final int WIDTH = 16;

    private final Segment segment;
    private final Moves moves;
    private final Effort effort;

    /**
     * @param paidBytes a breadth that no order of the whole graph can avoid
     */
    BeamSearch(Segment segment, long paidBytes, Effort effort) {
        this.segment = segment;
        this.effort = effort;
        moves = new Moves(segment, paidBytes, effort);
    }

    /** Returns a way through the whole segment with a smaller maximum breadth, if one is found. */
    Optional<State> below(long knownBytes) {
        long bestBytes = knownBytes;
        Optional<State> best = Optional.empty();
        List<State> beam = List.of(segment.start());
        while (!beam.isEmpty()) {
            Map<DoneSet, State> next = new LinkedHashMap<>();
            for (State state : beam) {
                for (State after : moves.from(state)) {
                    if (moves.peakBytes(after) >= bestBytes) {
                        continue;
                    }
                    if (after.count() == segment.size()) {
                        best = Optional.of(after);
                        bestBytes = moves.peakBytes(after);
                    } else {
                        next.merge(new DoneSet(after.done()), after, BeamSearch::better);
                    }
                }
            }
            List<State> sorted = new ArrayList<>(next.values());
            sorted.sort(order());
            // Without effort left, the rest is greedy.
            int width = effort.exhausted() ? 1 : WIDTH;
            beam = sorted.subList(0, Math.min(width, sorted.size()));
        }
        return best;
    }

    private static State better(State one, State other) {
        return one.peakBytes() <= other.peakBytes() ? one : other;
    }

    /** Ties are left in the order in which the states were found. */
    private Comparator<State> order() {
        return Comparator.comparingLong(moves::peakBytes).thenComparingLong(State::aliveBytes);
    }
}
