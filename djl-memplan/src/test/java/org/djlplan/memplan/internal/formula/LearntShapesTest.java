package org.djlplan.memplan.internal.formula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;

class LearntShapesTest {

    private static ImmutableLongArray shape(long... dimensions) {
        return ImmutableLongArray.copyOf(dimensions);
    }

    /**
     * Returns a trace of one allocation after another; each ends just after the next one begins.
     */
    private static AllocationTrace trace(long... bytes) {
        List<Allocation> allocations = new ArrayList<>();
        for (int i = 0; i < bytes.length; i++) {
            allocations.add(new Allocation(bytes[i], 2 * i, OptionalInt.of(2 * i + 3)));
        }
        return new AllocationTrace(allocations);
    }

    @SafeVarargs
    private static AllocationTrace trace(
            ImmutableLongArray shape, ToLongFunction<ImmutableLongArray>... sizes) {
        long[] bytes = new long[sizes.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = sizes[i].applyAsLong(shape);
        }
        return trace(bytes);
    }

    private static LearntShapes learnt(
            ToLongFunction<ImmutableLongArray> size, ImmutableLongArray... shapes) {
        LearntShapes learnt = LearntShapes.NONE;
        for (ImmutableLongArray shape : shapes) {
            learnt = learnt.with(shape, trace(shape, size));
        }
        return learnt;
    }

    private static Optional<Long> guess(LearntShapes learnt, long... dimensions) {
        return learnt.guess(shape(dimensions)).map(guess -> guess.bytes(0));
    }

    @Test
    void guess_productsOfPowers_areExact() {
        ToLongFunction<ImmutableLongArray> scores = at -> 48 * at.get(0) * at.get(1) * at.get(1);
        LearntShapes learnt = learnt(scores, shape(2, 17), shape(5, 40), shape(3, 99));
        assertEquals(Optional.of(48L * 7 * 250 * 250), guess(learnt, 7, 250));
    }

    @Test
    void guess_scratchBesideAProduct_isExact() {
        ToLongFunction<ImmutableLongArray> scratch = at -> 128 + 40 * at.get(1) * at.get(2);
        LearntShapes learnt =
                learnt(scratch, shape(2, 64, 96), shape(3, 128, 64), shape(5, 96, 224));
        assertEquals(Optional.of(128L + 40 * 160 * 320), guess(learnt, 4, 160, 320));
    }

    @Test
    void guess_dividedProduct_isKnownWhereItIsWhole() {
        ToLongFunction<ImmutableLongArray> pooled = at -> 5 * at.get(0) * at.get(1) / 8;
        LearntShapes learnt = learnt(pooled, shape(16, 24), shape(40, 8), shape(24, 32));
        assertEquals(Optional.of(5L * 48 * 56 / 8), guess(learnt, 48, 56));
        assertEquals(Optional.empty(), guess(learnt, 7, 9));
    }

    @Test
    void guess_severalFormulasFit_isUnknown() {
        // All shapes have 8 rows, so it is unknown whether the size depends on the rows.
        LearntShapes learnt = learnt(at -> at.get(1) * 4, shape(8, 10), shape(8, 20), shape(8, 30));
        assertEquals(Optional.of(160L), guess(learnt, 8, 40));
        assertEquals(Optional.empty(), guess(learnt, 9, 40));
        // Rows and length rise together.
        LearntShapes together = learnt(at -> at.get(0) * 4, shape(2, 20), shape(3, 30));
        assertEquals(Optional.of(16L), guess(together, 4, 40));
        assertEquals(Optional.empty(), guess(together, 4, 41));
    }

    @Test
    void guess_equalInputs_areOneVariable() {
        LearntShapes learnt =
                learnt(
                        at -> at.get(0) * at.get(1),
                        shape(2, 9, 2, 9),
                        shape(3, 7, 3, 7),
                        shape(7, 11, 7, 11));
        assertEquals(Optional.of(40L), guess(learnt, 5, 8, 5, 8));
        assertEquals(Optional.empty(), guess(learnt, 5, 8, 5, 9));
    }

    @Test
    void guess_oneRecording_knowsOnlyItsShape() {
        LearntShapes learnt = learnt(at -> at.get(0), shape(2, 9));
        assertEquals(Optional.of(2L), guess(learnt, 2, 9));
        assertEquals(Optional.empty(), guess(learnt, 2, 10));
        assertTrue(learnt.wants(shape(2, 10)));
    }

    @Test
    void guess_overflow_isUnknown() {
        LearntShapes learnt =
                learnt(
                        at -> (at.get(0) * at.get(1) * at.get(1)) << 10,
                        shape(2, 3),
                        shape(3, 5),
                        shape(4, 2));
        assertEquals(Optional.empty(), guess(learnt, 1L << 40, 1L << 20));
        assertEquals(Optional.empty(), guess(learnt, 4, 1L << 62));
    }

    @Test
    void guess_emptyInputs_areUnknownAndNotLearnt() {
        LearntShapes learnt = learnt(at -> at.get(0), shape(2), shape(3));
        assertEquals(Optional.empty(), guess(learnt, 0));
        assertEquals(2, learnt.with(shape(0), trace(0)).recordings());
        assertFalse(learnt.wants(shape(0)));
    }

    @Test
    void guess_otherDimensionsAreOne_areOfAnotherStructure() {
        LearntShapes learnt =
                LearntShapes.NONE.with(shape(2, 8), trace(16, 16)).with(shape(3, 9), trace(27, 27));
        assertTrue(learnt.guess(shape(4, 4)).isPresent());
        assertTrue(learnt.guess(shape(1, 4)).isEmpty());
        LearntShapes both = learnt.with(shape(1, 8), trace(8)).with(shape(1, 5), trace(5));
        assertEquals(1, both.guess(shape(1, 30)).orElseThrow().size());
        assertEquals(2, both.guess(shape(2, 30)).orElseThrow().size());
    }

    @Test
    void guess_structuresBySize_isThatOfTheNearest() {
        LearntShapes learnt =
                LearntShapes.NONE
                        .with(shape(8), trace(8))
                        .with(shape(9), trace(9))
                        .with(shape(800), trace(800, 1))
                        .with(shape(900), trace(900, 1));
        assertEquals(1, learnt.guess(shape(20)).orElseThrow().size());
        assertEquals(2, learnt.guess(shape(500)).orElseThrow().size());
    }

    @Test
    void with_sameShapeOtherSizes_isHopeless() {
        LearntShapes learnt = LearntShapes.NONE.with(shape(8), trace(8)).with(shape(8), trace(16));
        assertTrue(learnt.guess(shape(8)).isEmpty());
        assertFalse(learnt.wants(shape(9)));
    }

    @Test
    void with_sameShapeOtherStructure_isReplaced() {
        LearntShapes learnt =
                LearntShapes.NONE.with(shape(8), trace(8)).with(shape(8), trace(8, 8));
        assertEquals(1, learnt.recordings());
        assertEquals(2, learnt.guess(shape(8)).orElseThrow().size());
    }

    @Test
    void with_sameAgain_isNoFurtherRecording() {
        LearntShapes learnt = LearntShapes.NONE.with(shape(8), trace(8)).with(shape(8), trace(8));
        assertEquals(1, learnt.recordings());
    }

    @Test
    void with_manyRecordings_forgetsTheOldest() {
        LearntShapes learnt = LearntShapes.NONE;
        for (int i = 2; i < 100; i++) {
            learnt = learnt.with(shape(i), trace(4L * i));
        }
        assertEquals(LearntShapes.MOST_RECORDINGS, learnt.recordings());
        assertFalse(learnt.wants(shape(7)));
    }

    @Test
    void with_oneOutlives_staysLeft() {
        Allocation left = new Allocation(64, 0, OptionalInt.empty());
        LearntShapes learnt =
                LearntShapes.NONE
                        .with(shape(2), new AllocationTrace(List.of(left)))
                        .with(
                                shape(3),
                                new AllocationTrace(
                                        List.of(new Allocation(96, 0, OptionalInt.of(1)))));
        Guess guess = learnt.guess(shape(5)).orElseThrow();
        assertEquals(160, guess.leftBytes());
        assertEquals(OptionalInt.empty(), guess.trace().allocations().get(0).freedAt());
    }

    /**
     * Returns sizes that no formula of ours fits for all shapes, though it may for the first few.
     */
    private static ToLongFunction<ImmutableLongArray> treacherous(Random random) {
        long a = 1L + random.nextInt(64);
        long k = 2L + random.nextInt(15);
        return switch (random.nextInt(5)) {
            case 0 -> at -> a * at.get(0) * (at.get(1) / k);
            case 1 -> at -> a * at.get(0) * ((at.get(1) + k - 1) / k);
            case 2 -> at -> at.get(1) > 8 * k ? a * at.get(1) : a * at.get(0) * at.get(1);
            case 3 -> at -> Math.max(a * at.get(0), 4 * k * at.get(1));
            default -> at -> a * at.get(0) + k * at.get(1) + 64;
        };
    }

    /**
     * A guess need not be right: some differ from the allocated size. But no guess contradicts a
     * recording, and there is no guess once no formula fits.
     */
    @Test
    void guess_formulasThatFailLater_neverContradictRecordings() {
        Random random = new Random(20);
        int wrong = 0;
        for (int round = 0; round < 2000; round++) {
            ToLongFunction<ImmutableLongArray> size = treacherous(random);
            LearntShapes learnt = LearntShapes.NONE;
            for (int i = 0; i < 8; i++) {
                ImmutableLongArray shape = shape(2 + random.nextInt(7), 5 + random.nextInt(250));
                long truth = size.applyAsLong(shape);
                Optional<Long> told = learnt.guess(shape).map(guess -> guess.bytes(0));
                wrong += told.isPresent() && told.get() != truth ? 1 : 0;
                learnt = learnt.with(shape, trace(truth));
                Optional<Long> again = learnt.guess(shape).map(guess -> guess.bytes(0));
                assertTrue(again.isEmpty() || again.get() == truth, "round " + round);
            }
        }
        assertTrue(wrong < 2000 * 8 / 20, wrong + " wrong");
    }

    /** Every size has an exact formula, as in real models. */
    @Test
    void guess_fourRecordingsOfExactFormulas_knowsNearlyAllWithoutError() {
        Random random = new Random(21);
        int known = 0;
        int all = 0;
        for (int round = 0; round < 300; round++) {
            long[] factors = random.longs(5, 1, 5000).toArray();
            List<ToLongFunction<ImmutableLongArray>> sizes =
                    List.of(
                            at -> factors[0],
                            at -> factors[1] * at.get(1),
                            at -> 4 * factors[2] * at.get(0) * at.get(1),
                            at -> 4 * factors[3] * at.get(0) * at.get(1) * at.get(1),
                            at -> 128 + factors[4] * at.get(1));
            LearntShapes learnt = LearntShapes.NONE;
            for (int i = 0; i < 4; i++) {
                ImmutableLongArray shape = shape(2 + random.nextInt(7), 5 + random.nextInt(250));
                learnt = learnt.with(shape, trace(bytes(sizes, shape)));
            }
            for (int i = 0; i < 50; i++, all++) {
                ImmutableLongArray shape = shape(2 + random.nextInt(7), 5 + random.nextInt(250));
                Optional<Guess> guess = learnt.guess(shape);
                known += guess.isPresent() ? 1 : 0;
                if (guess.isPresent()) {
                    for (int j = 0; j < sizes.size(); j++) {
                        assertEquals(sizes.get(j).applyAsLong(shape), guess.get().bytes(j));
                    }
                }
            }
        }
        assertTrue(known >= .95 * all, known + " of " + all);
    }

    private static long[] bytes(
            List<ToLongFunction<ImmutableLongArray>> sizes, ImmutableLongArray shape) {
        return sizes.stream().mapToLong(size -> size.applyAsLong(shape)).toArray();
    }
}
