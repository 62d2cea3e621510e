package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InterpreterFactoryTest {

    private static final DelegationChoice ALL = FakeEngine.delegated(ImmutableSortedSet.of(0, 1));

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();

    private NativeDelegate delegate() {
        return new FakeEngine.FakeDelegate(() -> {}, delegates);
    }

    private void assertFreed() {
        assertEquals(0, engine.open.get());
        assertEquals(0, delegates.get());
    }

    @Test
    void build_failsAtTheLastStep_keepsNeitherSessionNorDelegateNorArena() {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        engine.beforeTensors =
                () -> {
                    throw new IllegalStateException("no luck");
                };
        assertThrows(
                IllegalStateException.class,
                () -> factory.build(FakeEngine.IN_FILE, Candidate.cpu(1), false));
        assertFreed();
        assertNobodyNeedsAnArena();
    }

    /** Asserts that an arena is freed when it is returned and no model needs it. */
    private static void assertNobodyNeedsAnArena() {
        ArenaPool.Lease lease;
        try (ArenaPool.Need need = ArenaPool.shared().announce(1)) {
            lease = need.tryLease().orElseThrow();
        }
        lease.close();
        assertEquals(0, ArenaPool.shared().metric().arenas());
    }

    @Test
    void build_givenUpShapes_isStockAndReportsWhy() throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        assertTrue(factory.giveUp(FakeEngine.IN_FILE, "a reason"));
        assertFalse(factory.giveUp(FakeEngine.IN_FILE, "another"));
        for (DelegationChoice choice : List.of(FakeEngine.cpu(1), ALL)) {
            try (ModelInterpreter built =
                    factory.build(FakeEngine.IN_FILE, choice.candidate(), false)) {
                assertEquals(Optional.of("a reason"), built.description().unplannedReason());
                assertFalse(built.planned());
                assertEquals(0, built.description().arenaBytes());
            }
        }
        try (ModelInterpreter other = factory.build(FakeEngine.OTHER, Candidate.cpu(1), false)) {
            assertTrue(other.planned());
            assertEquals(Optional.empty(), other.description().unplannedReason());
        }
        assertFreed();
        assertNobodyNeedsAnArena();
    }

    /** Callers choose the shapes, so memory must not grow with every new shape. */
    @Test
    void giveUp_moreShapesThanAreKept_forgetsTheOldest() {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        try (LogCapture log = new LogCapture()) {
            for (int i = 1; i < 2000; i++) {
                assertTrue(factory.giveUp(List.of(List.of(i, 4)), "a test"));
            }
            assertEquals(1999, log.lines("WARN").size());
            assertTrue(factory.giveUp(List.of(List.of(1, 4)), "a test"));
        }
    }

    /** A delegate rejects one candidate; other candidates can still be built. */
    @Test
    void build_delegateRefuses_throwsAndFreesEverything() throws Exception {
        InterpreterFactory factory =
                engine.factory(
                        threads -> {
                            throw new UnsupportedOperationException();
                        });
        assertThrows(
                UnplannableException.class,
                () -> factory.build(FakeEngine.IN_FILE, ALL.candidate(), false));
        try (ModelInterpreter cpu = factory.build(FakeEngine.IN_FILE, Candidate.cpu(1), false)) {
            assertTrue(cpu.planned());
        }
        assertFreed();
    }

    /** Some builds of the engine apply XNNPACK by themselves. */
    @Test
    void build_engineDelegatesUnchosenOperators_isRefused() {
        engine.delegatesByItself = true;
        InterpreterFactory factory = engine.factory(threads -> delegate());
        for (Candidate each :
                List.of(
                        Candidate.cpu(1),
                        FakeEngine.delegated(ImmutableSortedSet.of(0)).candidate())) {
            UnplannableException refused =
                    assertThrows(
                            UnplannableException.class,
                            () -> factory.build(FakeEngine.IN_FILE, each, false));
            assertTrue(refused.getMessage().contains("not chosen: [0, 1]"), refused.getMessage());
        }
        assertFreed();
    }

    @Test
    void leaveToEngine_anyShapes_areStockAndReportTheFirstReason() throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        factory.leaveToEngine("no memory");
        factory.leaveToEngine("another reason");
        for (List<List<Integer>> shapes : List.of(FakeEngine.IN_FILE, FakeEngine.OTHER)) {
            try (ModelInterpreter built = factory.build(shapes, Candidate.cpu(1), false)) {
                assertEquals(Optional.of("no memory"), built.description().unplannedReason());
                assertEquals(Optional.empty(), built.lease());
            }
        }
        assertFreed();
        assertNobodyNeedsAnArena();
    }

    @Test
    void keepArena_interpreter_runsInItAndFreesItAtClose() throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        try (ModelInterpreter built = factory.build(FakeEngine.IN_FILE, Candidate.cpu(1), false)) {
            built.keepArena();
            built.keepArena();
            built.runAgain();
            assertEquals(1, ArenaPool.shared().metric().leased());
        }
        assertFreed();
        assertEquals(0, ArenaPool.shared().metric().arenas());
    }

    /**
     * Planning takes longer than a prediction, and a layout that cannot be improved needs no plan.
     */
    @ParameterizedTest
    @CsvSource({"32, false", "31, false", "30, true", "0, true"})
    void reshape_manyTimes_plansOnlyWhereThatCanNeedLess(long leastBytes, boolean planned)
            throws Exception {
        List<List<Integer>> third = List.of(List.of(3, 4));
        InterpreterFactory factory = engine.factory(threads -> delegate());
        engine.leastBytes = leastBytes;
        try (ModelInterpreter built = factory.build(third, Candidate.cpu(1), false)) {
            for (int i = 0; i < 100; i++) {
                factory.noteUse(FakeEngine.OTHER);
                factory.reshape(built, FakeEngine.OTHER);
                assertEquals(planned && i >= 63, built.description().plan().isPresent());
                factory.noteUse(third);
                factory.reshape(built, third);
            }
        }
        assertFreed();
    }

    /** An interpreter is prepared like this before a choice serves. */
    @Test
    void reshape_manyTimesForNoPrediction_plansNothing() throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        try (ModelInterpreter built = factory.build(FakeEngine.OTHER, Candidate.cpu(1), false)) {
            for (int i = 0; i < 100; i++) {
                factory.reshape(built, FakeEngine.IN_FILE);
                factory.reshape(built, FakeEngine.OTHER);
                assertTrue(built.description().plan().isEmpty());
            }
        }
        assertFreed();
    }
}
