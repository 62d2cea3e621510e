package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.internal.runtime.tflite.FakeEngine;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServedCandidatesTest {

    private static final DelegationChoice ALL = FakeEngine.delegated(ImmutableSortedSet.of(0, 1));
    private static final DelegationChoice ONE = FakeEngine.delegated(ImmutableSortedSet.of(0));
    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();

    private NativeDelegate delegate() {
        return new FakeEngine.FakeDelegate(() -> {}, delegates);
    }

    private ServedCandidates candidates(DelegateFactory factory, DelegationChoice choice) {
        return candidates(factory, choice, new OtherShapes("fake"));
    }

    private ServedCandidates candidates(
            DelegateFactory factory, DelegationChoice choice, OtherShapes otherShapes) {
        return new ServedCandidates("fake", false, engine.factory(factory), choice, otherShapes);
    }

    private void assertFreed() {
        assertEquals(0, engine.open.get());
        assertEquals(0, delegates.get());
    }

    /** The choice that failed is the old one. */
    @Test
    void build_delegateFailsWhileAnotherChoiceIsMade_takesThatOne() throws Exception {
        AtomicReference<ServedCandidates> candidates = new AtomicReference<>();
        DelegateFactory failingOnce =
                threads -> {
                    if (candidates.get().choice().equals(ALL)) {
                        candidates.get().choose(ONE);
                        throw new IllegalStateException("it failed");
                    }
                    return delegate();
                };
        candidates.set(candidates(failingOnce, ALL));
        try (ModelInterpreter built = candidates.get().build(FakeEngine.IN_FILE, ALL.candidate())) {
            assertTrue(built.delegates(ONE.candidate()));
        }
        assertEquals(ONE, candidates.get().choice());
        assertFreed();
    }

    /** Others of the choice still serve. */
    @Test
    void build_delegateRefusesTwoThreads_doesWithoutThem() throws Exception {
        Candidate two = new Candidate(ALL.candidate().operators(), 2);
        DelegationChoice choice =
                new DelegationChoice(
                        two, ALL.candidates(), ALL.origin(), ALL.reason(), ALL.outputs());
        DelegateFactory one =
                threads -> {
                    if (threads == 2) {
                        throw new IllegalStateException("only one");
                    }
                    return delegate();
                };
        ServedCandidates candidates = candidates(one, choice);
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 2; i++) {
                try (ModelInterpreter built = candidates.build(FakeEngine.IN_FILE, two)) {
                    assertTrue(built.delegates(ALL.candidate()));
                }
            }
            assertEquals(1, log.lines("WARN").size(), log.lines().toString());
        }
        assertEquals(ALL, candidates.choice());
        assertFreed();
    }

    private static List<List<Integer>> rows(int count) {
        return List.of(List.of(count, 4));
    }

    /**
     * Smaller shapes are still delegated, and the largest shapes are not tried again for each of
     * them.
     */
    @Test
    void build_delegateFailsAtTheLargestShapesOnly_triesThemOnce() throws Exception {
        OtherShapes otherShapes = new OtherShapes("fake");
        ServedCandidates candidates = candidates(threads -> delegate(), ALL, otherShapes);
        otherShapes.use(new ShapeMix(List.of(rows(2), rows(3), rows(9)), 1), ALL);
        engine.delegateRefuses = rows(9).get(0);
        engine.allocated.clear();
        try (LogCapture log = new LogCapture()) {
            try (ModelInterpreter built = candidates.build(rows(2), ALL.candidate());
                    ModelInterpreter next = candidates.build(rows(2), ALL.candidate())) {
                assertTrue(built.delegates(ALL.candidate()));
                assertTrue(next.delegates(ALL.candidate()));
                assertTrue(next.hasShapes(rows(2)));
            }
            assertEquals(1, log.lines("WARN").size(), log.lines().toString());
        }
        List<Integer> small = rows(2).get(0);
        assertEquals(List.of(small, rows(3).get(0), small), engine.allocated);
        assertEquals(Candidate.cpu(1), candidates.serving(rows(9), ALL.candidate()));
        assertFreed();
    }
}
