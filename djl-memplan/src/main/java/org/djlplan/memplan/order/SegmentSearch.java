package org.djlplan.memplan.order;

import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.Ints;
import java.util.Optional;

/**
 * Searches one segment, forwards and backwards in time. Where branches join, all ways forwards look
 * alike until the last branch runs, but backwards the first step shows what cannot be avoided; and
 * the other way round where they part.
 */
final class SegmentSearch {

    /** What each direction may do, in words, before any is searched at length. */
    private static final long QUICK = 5_000_000;

    private final Effort beam;
    private final Effort exact;

    /**
     * @param beam what heuristic searches may do
     * @param exact what exact searches may do
     */
    SegmentSearch(Effort beam, Effort exact) {
        this.beam = beam;
        this.exact = exact;
    }

    /** A direction of time. */
    private record Direction(Segment segment, boolean backwards) {

        Found better(Found known, Optional<State> way) {
            if (way.isEmpty()) {
                return known;
            }
            int[] nodes = way.get().way();
            ImmutableIntArray inTime =
                    backwards
                            ? ImmutableIntArray.copyOf(Lists.reverse(Ints.asList(nodes)))
                            : ImmutableIntArray.copyOf(nodes);
            return known.with(inTime, way.get().peakBytes());
        }
    }

    /**
     * Returns the best way found.
     *
     * @param paidBytes a breadth that no order of the whole graph can avoid: a way that is no
     *     larger is good enough
     */
    Found improve(Found known, long paidBytes) {
        Direction[] directions = {
            new Direction(known.segment(), false), new Direction(known.segment().reversed(), true)
        };
        Found best = known;
        for (Direction direction : directions) {
            BeamSearch search = new BeamSearch(direction.segment(), paidBytes, beam);
            best = direction.better(best, search.below(Math.max(best.peakBytes(), paidBytes)));
        }
        for (Effort effort : new Effort[] {exact.part(QUICK), exact.part(QUICK), exact, exact}) {
            Direction direction = directions[0];
            directions[0] = directions[1];
            directions[1] = direction;
            if (best.peakBytes() <= Math.max(best.lowerBoundBytes(), paidBytes)) {
                return best;
            }
            ExactSearch.Outcome outcome =
                    new ExactSearch(direction.segment(), paidBytes, effort).below(best.peakBytes());
            best = direction.better(best, outcome.better());
            best = best.withLowerBound(outcome.lowerBoundBytes());
        }
        return best;
    }
}
