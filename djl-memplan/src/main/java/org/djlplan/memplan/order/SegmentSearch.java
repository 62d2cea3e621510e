package org.djlplan.memplan.order;

import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.Ints;
import java.util.Optional;

/**
 * Searches one segment, forwards and backwards in time. Where branches join, all schedules forwards
 * look alike until the last branch runs, but backwards the first step shows what cannot be avoided;
 * and the other way round where they part.
 */
final class SegmentSearch {

    /**
     * The best schedule known of one segment.
     *
     * @param segment the segment
     * @param nodes its nodes in the order to execute
     * @param peakBytes maximum breadth of that order
     * @param lowerBoundBytes the largest breadth that every order of the segment is proved to reach
     */
    record Schedule(
            Segment segment, ImmutableIntArray nodes, long peakBytes, long lowerBoundBytes) {

        /** Returns the order in which the nodes stand in the graph. */
        static Schedule asItStands(Segment segment) {
            State end = segment.inOrder();
            return new Schedule(
                    segment,
                    ImmutableIntArray.copyOf(end.schedule()),
                    end.peakBytes(),
                    segment.lowerBoundBytes());
        }

        Schedule withLowerBound(long bytes) {
            return new Schedule(segment, nodes, peakBytes, Math.max(lowerBoundBytes, bytes));
        }
    }

    /**
     * The work that a search may still do, counted and not timed, so that every run finds the same
     * order.
     */
    static final class Effort {

        private final Optional<Effort> whole;
        private long left;

        /**
         * @param words how many words of sets of nodes may be looked at
         */
        Effort(long words) {
            this(words, Optional.empty());
        }

        private Effort(long words, Optional<Effort> whole) {
            left = words;
            this.whole = whole;
        }

        /** Returns a part of this effort. */
        Effort part(long words) {
            return new Effort(words, Optional.of(this));
        }

        void spend(long words) {
            left -= words;
            whole.ifPresent(of -> of.spend(words));
        }

        boolean exhausted() {
            return left < 0 || (whole.isPresent() && whole.get().exhausted());
        }
    }

    /** A direction of time. */
    private record Direction(Segment segment, boolean backwards) {

        Schedule better(Schedule known, Optional<State> end) {
            if (end.isEmpty()) {
                return known;
            }
            int[] nodes = end.get().schedule();
            ImmutableIntArray inTime =
                    backwards
                            ? ImmutableIntArray.copyOf(Lists.reverse(Ints.asList(nodes)))
                            : ImmutableIntArray.copyOf(nodes);
            return new Schedule(
                    known.segment, inTime, end.get().peakBytes(), known.lowerBoundBytes);
        }
    }

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

    /**
     * Returns the best schedule found.
     *
     * @param paidBytes a breadth that no order of the whole graph can avoid: a schedule that is no
     *     larger is good enough
     */
    Schedule improve(Schedule known, long paidBytes) {
        Direction[] directions = {
            new Direction(known.segment(), false), new Direction(known.segment().reversed(), true)
        };
        Schedule best = known;
        for (Direction direction : directions) {
            ScheduleSearch search = new ScheduleSearch(direction.segment(), paidBytes, beam);
            best = direction.better(best, search.beamBelow(Math.max(best.peakBytes(), paidBytes)));
        }
        for (Effort effort : new Effort[] {exact.part(QUICK), exact.part(QUICK), exact, exact}) {
            Direction direction = directions[0];
            directions[0] = directions[1];
            directions[1] = direction;
            if (best.peakBytes() <= Math.max(best.lowerBoundBytes(), paidBytes)) {
                return best;
            }
            ScheduleSearch search = new ScheduleSearch(direction.segment(), paidBytes, effort);
            ScheduleSearch.Outcome outcome = search.exactBelow(best.peakBytes());
            best = direction.better(best, outcome.better());
            best = best.withLowerBound(outcome.lowerBoundBytes());
        }
        return best;
    }
}
