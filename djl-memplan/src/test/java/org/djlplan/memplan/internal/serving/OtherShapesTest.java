package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

/**
 * Tests which input shapes, other than the file's, are measured, and which interpreter serves them.
 */
class OtherShapesTest {

    private static final Candidate DELEGATED = new Candidate(ImmutableSortedSet.of(0, 2), 1);
    private static final Candidate USUAL = Candidate.cpu(1);
    private static final DelegationChoice CHOICE =
            new DelegationChoice(DELEGATED, Origin.MEASURED, "a test");

    private final OtherShapes shapes = new OtherShapes("model");
    private final Deque<ShapeMix> asked = new ArrayDeque<>();
    private boolean settled = true;

    /** Stands for the provider of a delegation. */
    private final ShapeChooser chooser =
            new ShapeChooser() {
                @Override
                public void request(ShapeMix mix) {
                    asked.add(mix);
                    settled = false;
                }

                @Override
                public boolean isSettled() {
                    return settled;
                }
            };

    private static List<List<Integer>> shape(int height, int width) {
        return List.of(List.of(1, height, width, 3));
    }

    private void note(int times, int... sizes) {
        for (int i = 0; i < times; i++) {
            int size = sizes[i % sizes.length];
            shapes.noteChange();
            shapes.note(shape(size, size));
        }
    }

    private ShapeMix next() {
        assertFalse(asked.isEmpty(), "nothing was asked for");
        return asked.remove();
    }

    /** Passes a choice on as the provider's answer. */
    private void answer(ShapeMix mix) {
        shapes.use(mix, CHOICE);
        settled = true;
    }

    /** Lets the provider end without an answer. */
    private void fail() {
        settled = true;
    }

    private static ShapeMix upTo(int size) {
        return new ShapeMix(List.of(shape(20, 20), shape(40, 40), shape(size, size)), 1);
    }

    @Test
    void note_resultsAreStored_asksForTheSmallestThatEnclosesAtOnce() {
        shapes.chooseWith(chooser, List.of(upTo(300), upTo(100), upTo(50)));
        note(1, 200);
        ShapeMix mix = next();
        assertEquals(upTo(300), mix);
        answer(mix);
        assertEquals(DELEGATED, shapes.at(shape(30, 30), USUAL));
        note(64, 20, 250, 40, 30);
        assertTrue(asked.isEmpty());
        note(64, 400, 420, 440);
        assertEquals(shape(440, 440), next().shapes().get(2));
    }

    @Test
    void note_shapesChangeLessOftenThanInAStoredResult_keepsIt() {
        shapes.chooseWith(chooser, List.of(upTo(60)));
        note(1, 30);
        answer(next());
        for (int i = 0; i < 256; i++) {
            shapes.note(shape(30, 30));
        }
        assertTrue(asked.isEmpty());
    }

    @Test
    void note_storedResultIsForMuchLargerShapes_waitsForAPredictionNearThem() {
        shapes.chooseWith(chooser, List.of(upTo(300)));
        note(8, 30, 70);
        assertTrue(asked.isEmpty());
        note(1, 80);
        assertEquals(upTo(300), next());
    }

    @Test
    void note_manyShapes_asksForThoseThatEncloseMost() {
        shapes.chooseWith(chooser, List.of());
        note(32, 20, 60, 40, 30);
        ShapeMix mix = next();
        assertEquals(3, mix.shapes().size());
        assertEquals(shape(20, 20), mix.shapes().get(0));
        assertEquals(shape(60, 60), mix.shapes().get(2));
        assertEquals(1, mix.changes());
    }

    @Test
    void note_answeredAndAlike_asksNoMore() {
        shapes.chooseWith(chooser, List.of());
        note(32, 20, 60, 40, 30);
        answer(next());
        note(1000, 20, 60, 40, 30);
        assertTrue(asked.isEmpty());
    }

    @Test
    void note_choiceIsAwaited_asksForNoOther() {
        shapes.chooseWith(chooser, List.of());
        note(32, 20, 60, 40, 30);
        next();
        note(1000, 200, 600, 400, 300);
        assertTrue(asked.isEmpty());
    }

    @Test
    void note_requestEndedWithoutChoice_asksForOtherShapes() {
        shapes.chooseWith(chooser, List.of());
        note(32, 20, 60, 40, 30);
        next();
        fail();
        note(64, 200, 600, 400, 300);
        assertTrue(next().encloses(shape(500, 500)));
    }

    /** A model may have an input of an unknown number of dimensions. */
    @Test
    void note_shapesOfSeveralRanks_asksForTheMostFrequent() {
        shapes.chooseWith(chooser, List.of());
        for (int i = 0; i < 32; i++) {
            shapes.noteChange();
            shapes.note(i % 4 == 0 ? List.of(List.of(i + 1)) : List.of(List.of(i + 1, 4)));
        }
        ShapeMix mix = next();
        assertEquals(3, mix.shapes().size());
        assertTrue(mix.encloses(List.of(List.of(20, 4))));
    }

    @Test
    void use_anotherMixWasRequestedSince_isIgnored() {
        shapes.chooseWith(chooser, List.of());
        note(32, 20, 60, 40, 30);
        ShapeMix first = next();
        answer(first);
        note(64, 100, 110, 120, 130);
        ShapeMix second = next();
        shapes.use(first, new DelegationChoice(USUAL, Origin.MEASURED, "too late"));
        assertEquals(DELEGATED, shapes.at(shape(50, 30), USUAL));
        shapes.use(second, CHOICE);
        assertEquals(DELEGATED, shapes.at(shape(115, 115), USUAL));
    }

    @Test
    void note_shapesOutside_asksAgainButNotForEver() {
        shapes.chooseWith(chooser, List.of());
        for (int round = 1; round <= 4; round++) {
            int size = 100 * round;
            note(32 << round, size, size + 10, size + 20, size + 30);
            ShapeMix mix = next();
            assertTrue(mix.encloses(shape(size + 15, size + 15)), mix.toString());
            answer(mix);
        }
        note(5000, 1000, 1010, 1020);
        assertTrue(asked.isEmpty());
    }

    @Test
    void note_repeatedShapes_reportsRareChanges() {
        shapes.chooseWith(chooser, List.of());
        shapes.noteChange();
        for (int i = 0; i < 32; i++) {
            shapes.note(shape(20, 20));
        }
        ShapeMix mix = next();
        assertEquals(List.of(shape(20, 20)), mix.shapes());
        assertEquals(1.0 / 16, mix.changes());
    }

    @Test
    void at_nothingMeasured_isCpuKernels() {
        assertEquals(USUAL, shapes.at(shape(20, 20), DELEGATED));
        assertTrue(shapes.describe().isEmpty());
    }

    @Test
    void at_enclosedShapes_isTheChoice() {
        shapes.use(new ShapeMix(List.of(shape(20, 20), shape(40, 20), shape(60, 60)), 1), CHOICE);
        assertEquals(DELEGATED, shapes.at(shape(50, 30), USUAL));
        assertEquals(USUAL, shapes.at(shape(50, 61), USUAL));
        assertEquals(USUAL, shapes.at(shape(19, 20), USUAL));
        assertEquals(USUAL, shapes.at(List.of(List.of(1, 50, 30)), USUAL));
        assertTrue(shapes.describe().orElseThrow().contains("2 operators delegated"));
    }

    @Test
    void at_fewerShapesThanThree_servesOnlyThese() {
        shapes.use(new ShapeMix(List.of(shape(20, 20), shape(60, 60)), 1), CHOICE);
        assertEquals(DELEGATED, shapes.at(shape(60, 60), USUAL));
        assertEquals(USUAL, shapes.at(shape(40, 40), USUAL));
    }

    @Test
    void refuse_someShapes_runInCpuKernelsFromThenOn() {
        shapes.use(new ShapeMix(List.of(shape(20, 20), shape(40, 20), shape(60, 60)), 1), CHOICE);
        shapes.refuse(shape(30, 30), "a test");
        assertEquals(USUAL, shapes.at(shape(30, 30), USUAL));
        assertEquals(DELEGATED, shapes.at(shape(40, 20), USUAL));
    }

    @Test
    void largest_delegateFailedThere_isTheNextOne() {
        ShapeMix mix = new ShapeMix(List.of(shape(20, 20), shape(40, 20), shape(60, 60)), 1);
        shapes.use(mix, CHOICE);
        assertEquals(Optional.of(shape(60, 60)), shapes.largest(mix));
        assertEquals(Optional.of(shape(60, 60)), shapes.largerThan(shape(40, 40)));
        assertEquals(Optional.empty(), shapes.largerThan(shape(60, 60)));
        shapes.refuse(shape(60, 60), "a test");
        assertEquals(Optional.of(shape(40, 20)), shapes.largest(mix));
        assertEquals(Optional.of(shape(40, 20)), shapes.largerThan(shape(20, 20)));
        assertEquals(Optional.empty(), shapes.largerThan(shape(40, 40)));
        shapes.refuse(shape(40, 20), "a test");
        shapes.refuse(shape(20, 20), "a test");
        assertEquals(Optional.empty(), shapes.largest(mix));
    }

    @Test
    void at_moreThreads_takesTheCandidateOfAsMany() {
        Candidate two = DELEGATED.withThreads(2);
        DelegationChoice both =
                new DelegationChoice(two, List.of(DELEGATED), Origin.MEASURED, "a test", List.of());
        shapes.use(new ShapeMix(List.of(shape(20, 20)), 1), both);
        assertEquals(two, shapes.at(shape(20, 20), Candidate.cpu(2)));
        assertEquals(DELEGATED, shapes.at(shape(20, 20), Candidate.cpu(1)));
        assertEquals(DELEGATED, shapes.at(shape(20, 20), Candidate.cpu(4)));
    }
}
