package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.tflite.Placements.Placement;
import org.djlplan.memplan.internal.runtime.tflite.Placements.Placer;
import org.djlplan.memplan.spi.Candidate;
import org.junit.jupiter.api.Test;

class PlacementsTest {

    private final AtomicInteger planned = new AtomicInteger();
    private final Placements placements =
            new Placements(
                    live -> {
                        planned.incrementAndGet();
                        return MemoryPlanner.plan(live);
                    });

    private static List<List<Integer>> length(int rows) {
        return List.of(List.of(rows, 4));
    }

    private void use(List<List<Integer>> shapes, int times) {
        for (int i = 0; i < times; i++) {
            placements.noteUse(shapes);
        }
    }

    @Test
    void placer_shapesInFile_isAPlan() {
        assertEquals(Placer.PLAN, placements.placer(FakeEngine.IN_FILE, true));
    }

    @Test
    void placer_otherShapes_isThePlanIfThatPaysOnlyAfterManyUses() {
        use(FakeEngine.OTHER, 63);
        assertEquals(Placer.FIT, placements.placer(FakeEngine.OTHER, false));
        assertEquals(Placer.FIT, placements.placer(FakeEngine.OTHER, false));
        use(FakeEngine.OTHER, 1);
        assertEquals(Placer.PLAN_WASTE, placements.placer(FakeEngine.OTHER, false));
        assertEquals(Placer.FIT, placements.placer(length(3), false));
    }

    /** The file's shapes are placeholders, so no shapes are more likely than these. */
    @Test
    void placer_firstShapesAfterPlanNext_isAPlanOnce() {
        placements.planNext();
        assertEquals(Placer.PLAN, placements.placer(FakeEngine.OTHER, false));
        assertEquals(Placer.FIT, placements.placer(length(3), false));
    }

    /** Callers choose the shapes, so memory must not grow with every new shape. */
    @Test
    void noteUse_moreShapesThanAreCounted_forgetsTheOldest() {
        use(length(1), 64);
        for (int i = 2; i < 1000; i++) {
            use(length(i), 1);
        }
        assertEquals(Placer.FIT, placements.placer(length(1), false));
    }

    @Test
    void plan_sameShapesAndCandidate_isMadeOnce() throws Exception {
        InterpreterFactory factory =
                new FakeEngine()
                        .factory(
                                threads ->
                                        new FakeEngine.FakeDelegate(() -> {}, new AtomicInteger()));
        try (ModelInterpreter one = factory.build(FakeEngine.IN_FILE, Candidate.cpu(1), false);
                ModelInterpreter two = factory.build(FakeEngine.IN_FILE, Candidate.cpu(2), false)) {
            assertEquals(Optional.empty(), placements.kept(FakeEngine.OTHER, one));
            Placement first = placements.plan(FakeEngine.OTHER, one, FakeEngine.graph());
            assertSame(first, placements.plan(FakeEngine.OTHER, one, FakeEngine.graph()));
            assertSame(first, placements.kept(FakeEngine.OTHER, one).orElseThrow());
            assertEquals(1, planned.get());
            assertNotSame(first, placements.plan(FakeEngine.OTHER, two, FakeEngine.graph()));
            assertNotSame(first, placements.plan(length(3), one, FakeEngine.graph()));
            placements.clear();
            assertEquals(Optional.empty(), placements.kept(FakeEngine.OTHER, one));
        }
    }
}
