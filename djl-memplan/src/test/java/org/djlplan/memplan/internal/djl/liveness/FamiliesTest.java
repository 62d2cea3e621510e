package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.junit.jupiter.api.Test;

class FamiliesTest {

    private final Families families = new Families();

    private static List<ArrayType> types(long... shape) {
        return typed("float32", shape);
    }

    private static List<ArrayType> typed(String type, long... shape) {
        return List.of(new ArrayType(type, Arrays.stream(shape).boxed().toList()));
    }

    private static Optional<LivenessTrace> noTrial(List<ArrayType> types) {
        return Optional.empty();
    }

    private static LivenessTrace trace(long size) {
        return new LivenessTrace(
                List.of(
                        new LivenessTrace.Array(
                                new ArrayType("float32", List.of(size)), OptionalInt.empty())));
    }

    /**
     * Returns the shapes of the first input with which a block is tried that rejects all of them.
     */
    private List<List<Long>> tried(List<ArrayType> types) {
        List<List<Long>> shapes = new ArrayList<>();
        families.findRecording(
                types,
                smaller -> {
                    shapes.add(smaller.get(0).shape());
                    return Optional.empty();
                });
        return shapes;
    }

    @Test
    void lend_otherSizesOfTheSameRank_theRecording() {
        families.add(types(8, 16), trace(1));
        assertEquals(
                Optional.of(trace(1)),
                families.findRecording(types(3, 5), types -> fail("a trial")));
    }

    @Test
    void lend_otherElementTypeOrRank_nothing() {
        families.add(types(8, 16), trace(1));
        assertEquals(
                Optional.empty(),
                families.findRecording(typed("float16", 8, 16), FamiliesTest::noTrial));
        assertEquals(
                Optional.empty(), families.findRecording(types(8, 16, 2), FamiliesTest::noTrial));
        List<ArrayType> twice = new ArrayList<>(types(8, 16));
        twice.addAll(types(8, 16));
        assertEquals(Optional.empty(), families.findRecording(twice, FamiliesTest::noTrial));
    }

    @Test
    void lend_onesInOtherPlaces_theOneWithTheSameOnesFirst() {
        families.add(types(8, 16), trace(1));
        families.add(types(1, 16), trace(2));
        assertEquals(
                Optional.of(trace(2)), families.findRecording(types(1, 3), FamiliesTest::noTrial));
        assertEquals(
                Optional.of(trace(1)), families.findRecording(types(4, 3), FamiliesTest::noTrial));
        assertEquals(
                Optional.of(trace(1)), families.findRecording(types(4, 1), FamiliesTest::noTrial));
    }

    @Test
    void lend_unrecordedImages_areTriedOnSmallerOnesFirst() {
        assertEquals(
                List.of(
                        List.of(2L, 3L, 16L, 8L),
                        List.of(2L, 3L, 32L, 16L),
                        List.of(2L, 3L, 64L, 32L)),
                tried(types(8, 3, 64, 32)));
    }

    @Test
    void lend_batchOfOne_neverTriedOnTheWholeSize() {
        assertEquals(
                List.of(List.of(1L, 3L, 16L, 16L), List.of(1L, 3L, 32L, 32L)),
                tried(types(1, 3, 64, 64)));
    }

    @Test
    void lend_sidesThatWouldBecomeOne_notTriedThere() {
        // A quarter of 7 is rounded to 1, a size that broadcasting treats differently.
        assertEquals(List.of(List.of(1L, 3L, 3L, 3L)), tried(types(1, 3, 7, 7)));
    }

    @Test
    void lend_fewerThanFourDimensions_onlyTheBatchShrinks() {
        assertEquals(List.of(List.of(2L, 128L, 64L)), tried(types(16, 128, 64)));
        assertEquals(List.of(), tried(types(2, 128, 64)));
        assertEquals(List.of(List.of(2L)), tried(types(3)));
    }

    @Test
    void lend_afterATrial_lendsItsRecordingWithoutAnother() {
        Optional<LivenessTrace> made =
                families.findRecording(types(8, 3), types -> Optional.of(trace(7)));
        assertEquals(Optional.of(trace(7)), made);
        assertEquals(made, families.findRecording(types(9, 3), types -> fail("a second trial")));
    }

    @Test
    void lend_trialInVain_isNotRepeated() {
        assertEquals(1, tried(types(16, 128)).size());
        assertEquals(List.of(), tried(types(16, 128)));
        // Shapes with dimensions of 1 at other positions are another family.
        assertEquals(List.of(List.of(2L, 1L)), tried(types(16, 1)));
    }

    @Test
    void misfit_recording_isLentNoMore() {
        families.add(types(8, 16), trace(1));
        families.misfit(types(9, 9), trace(1));
        assertEquals(Optional.empty(), families.findRecording(types(3, 5), FamiliesTest::noTrial));
    }

    @Test
    void misfit_fourTimes_endsTheFamilyAlone() {
        families.add(types(2), trace(9));
        for (int i = 0; i < 4; i++) {
            families.add(types(8, 16), trace(i));
            assertEquals(
                    Optional.of(trace(i)),
                    families.findRecording(types(3, 5), FamiliesTest::noTrial));
            families.misfit(types(3, 5), trace(i));
        }
        families.add(types(8, 16), trace(5));
        assertEquals(
                Optional.empty(),
                families.findRecording(types(3, 5), types -> fail("a trial in vain")));
        assertEquals(
                Optional.of(trace(9)), families.findRecording(types(4), FamiliesTest::noTrial));
    }

    @Test
    void mayRecord_familyWithoutSharedRecordings_afterSixteenMoreNoLonger() {
        for (int i = 0; i < 20; i++) {
            families.add(types(8, 16), trace(i));
            assertTrue(families.mayRecord(types(8, i)));
        }
        for (int i = 0; i < 4; i++) {
            families.add(types(8, 16), trace(i));
            families.misfit(types(3, 5), trace(i));
        }
        for (int i = 0; i < 16; i++) {
            assertTrue(families.mayRecord(types(3, 5)));
            families.add(types(8, i), trace(i));
        }
        assertFalse(families.mayRecord(types(3, 5)));
        assertTrue(families.mayRecord(types(3)));
    }

    @Test
    void misfit_recordingOfAnotherFamily_countsNot() {
        families.add(types(8, 16), trace(1));
        for (int i = 0; i < 10; i++) {
            families.misfit(types(8, 16), trace(2));
        }
        assertEquals(
                Optional.of(trace(1)), families.findRecording(types(3, 5), FamiliesTest::noTrial));
    }
}
