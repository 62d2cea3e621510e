package org.djlplan.memplan.internal.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;

class WeightTraceTest {

    private static final long PAGE = WeightUse.PAGE_BYTES;
    private static final List<WeightTrace.Piece> PIECES =
            List.of(new WeightTrace.Piece(0, 2 * PAGE), new WeightTrace.Piece(2 * PAGE, PAGE));

    private static ImmutableLongArray steps(int count) {
        return ImmutableLongArray.copyOf(new long[count]);
    }

    private static WeightTrace trace(WeightTrace.Touch... touches) {
        return WeightTrace.of(PIECES, steps(100), steps(100), List.of(touches), List.of());
    }

    @Test
    void of_touchesOfNearSteps_isOneUse() {
        assertEquals(
                List.of(new WeightUse(0, 3, 9, 2 * PAGE)),
                trace(new WeightTrace.Touch(3, 0, PAGE), new WeightTrace.Touch(9, 0, PAGE)).uses());
    }

    @Test
    void of_touchesOfFarSteps_areTwoUses() {
        assertEquals(
                List.of(new WeightUse(0, 3, 3, 2 * PAGE), new WeightUse(0, 80, 80, 2 * PAGE)),
                trace(new WeightTrace.Touch(3, 0, PAGE), new WeightTrace.Touch(80, 0, PAGE))
                        .uses());
    }

    @Test
    void of_severalPieces_areInOrderOfFirstStep() {
        assertEquals(
                List.of(new WeightUse(1, 2, 2, PAGE), new WeightUse(0, 4, 5, 2 * PAGE)),
                trace(
                                new WeightTrace.Touch(2, 1, PAGE),
                                new WeightTrace.Touch(4, 0, PAGE),
                                new WeightTrace.Touch(5, 0, PAGE))
                        .uses());
    }

    private static final long PIECE = 512 * PAGE;
    private static final WeightTrace.Range WEIGHT = new WeightTrace.Range(1, 8);

    /** Returns a trace in which all pieces but the first and the last belong to one weight. */
    private static WeightTrace largeWeight(long stepBytes, WeightTrace.Touch... touches) {
        List<WeightTrace.Piece> pieces =
                LongStream.range(0, 10)
                        .mapToObj(i -> new WeightTrace.Piece(i * PIECE, PIECE))
                        .toList();
        ImmutableLongArray bytes = ImmutableLongArray.of(0, stepBytes, 0, 0);
        return WeightTrace.of(pieces, bytes, steps(4), List.of(touches), List.of(WEIGHT));
    }

    @Test
    void of_touchesHereAndThere_isALookupInTheWholeWeight() {
        WeightTrace trace =
                largeWeight(
                        0,
                        new WeightTrace.Touch(1, 0, PIECE),
                        new WeightTrace.Touch(1, 2, 16 * PAGE),
                        new WeightTrace.Touch(1, 7, 32 * PAGE));
        assertEquals(List.of(new WeightTrace.Lookup(WEIGHT, 1, 1, 48 * PAGE)), trace.lookups());
        assertEquals(List.of(new WeightUse(0, 1, 1, PIECE)), trace.uses());
    }

    /** A step that allocates 100 KB may read a hundred rows, wherever they lie. */
    @Test
    void of_lookup_hasRoomForRowsOfOtherInputs() {
        WeightTrace.Touch one = new WeightTrace.Touch(1, 2, 16 * PAGE);
        assertEquals(100 * 16 * PAGE, largeWeight(100 << 10, one).lookups().get(0).bytes());
        assertEquals(8 * PIECE, largeWeight(100 << 20, one).lookups().get(0).bytes());
    }

    /** A slice of a large weight, then all of it. */
    @Test
    void of_touchesOfWholePieces_areUses() {
        WeightTrace trace =
                largeWeight(
                        0,
                        new WeightTrace.Touch(1, 3, PIECE),
                        new WeightTrace.Touch(1, 4, 8 * PAGE),
                        new WeightTrace.Touch(2, 1, PIECE),
                        new WeightTrace.Touch(2, 2, PIECE));
        assertEquals(List.of(), trace.lookups());
        assertEquals(4, trace.uses().size());
    }
}
