package org.djlplan.memplan.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableSortedSet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;

class InterpreterFactoryTest {

    private static final DelegationChoice ALL = FakeEngine.delegated(ImmutableSortedSet.of(0, 1));
    private static final DelegationChoice ONE = FakeEngine.delegated(ImmutableSortedSet.of(0));

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();

    private NativeDelegate delegate() {
        return new FakeEngine.FakeDelegate(() -> {}, delegates);
    }

    private void assertFreed() {
        assertEquals(0, engine.open.get());
        assertEquals(0, delegates.get());
    }

    /** What a delegate of an application may throw. */
    private static DelegateFactory throwing() {
        return threads -> {
            throw new UnsupportedOperationException();
        };
    }

    @Test
    void build_delegateThatThrowsAnything_delegatesNothingFromThenOn() throws Exception {
        InterpreterFactory factory = engine.factory(throwing(), ALL);
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 2; i++) {
                try (ModelInterpreter built =
                        factory.build(FakeEngine.IN_FILE, factory.choice().lightest())) {
                    assertEquals(0, built.description().delegatedOperators());
                    assertTrue(built.plan().isPresent());
                }
            }
            assertEquals(1, log.lines("WARN").size(), log.lines().toString());
        }
        assertFalse(factory.choice().candidate().delegates());
        assertFreed();
    }

    /** What failed was the old choice. */
    @Test
    void build_delegateFailsWhileAnotherChoiceIsMade_takesThatOne() throws Exception {
        AtomicReference<InterpreterFactory> factory = new AtomicReference<>();
        DelegateFactory failingOnce =
                threads -> {
                    if (factory.get().choice().equals(ALL)) {
                        factory.get().choose(ONE);
                        throw new IllegalStateException("it failed");
                    }
                    return delegate();
                };
        factory.set(engine.factory(failingOnce, ALL));
        try (ModelInterpreter built = factory.get().build(FakeEngine.IN_FILE, ALL.candidate())) {
            assertTrue(built.delegates(ONE.candidate()));
        }
        assertEquals(ONE, factory.get().choice());
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
        InterpreterFactory factory = engine.factory(one, choice);
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 2; i++) {
                try (ModelInterpreter built = factory.build(FakeEngine.IN_FILE, two)) {
                    assertTrue(built.delegates(ALL.candidate()));
                }
            }
            assertEquals(1, log.lines("WARN").size(), log.lines().toString());
        }
        assertEquals(ALL, factory.choice());
        assertFreed();
    }

    /** State cannot move from one candidate's interpreter to another's. */
    @Test
    void choice_modelThatKeepsState_hasOneCandidate() {
        Candidate two = new Candidate(ALL.candidate().operators(), 2);
        DelegationChoice choice =
                new DelegationChoice(
                        two, ALL.candidates(), ALL.origin(), ALL.reason(), ALL.outputs());
        InterpreterFactory factory =
                engine.factory(FakeEngine.statefulGraph(), threads -> delegate(), choice);
        assertEquals(ALL, factory.choice());
    }

    @Test
    void build_failsAtTheLastStep_keepsNeitherSessionNorDelegateNorArena() {
        AtomicInteger calls = new AtomicInteger();
        InterpreterFactory factory = engine.factory(threads -> delegate(), FakeEngine.cpu(1));
        engine.beforeTensors =
                () -> {
                    if (calls.incrementAndGet() == 2) {
                        throw new IllegalStateException("no luck");
                    }
                };
        assertThrows(
                IllegalStateException.class,
                () -> factory.build(FakeEngine.IN_FILE, factory.choice().lightest()));
        assertFreed();
        assertNobodyNeedsAnArena();
    }

    /** An arena that nobody needs is freed when it comes back. */
    private static void assertNobodyNeedsAnArena() {
        ArenaPool.Lease lease;
        try (ArenaPool.Need need = ArenaPool.shared().announce(1)) {
            lease = need.tryLease(1, Duration.ZERO).orElseThrow();
        }
        lease.close();
        assertEquals(0, ArenaPool.shared().metric().arenas());
    }

    @Test
    void build_givenUpShapes_isStockAndReportsWhy() throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate(), FakeEngine.cpu(1));
        assertTrue(factory.giveUp(FakeEngine.IN_FILE, "a reason"));
        assertFalse(factory.giveUp(FakeEngine.IN_FILE, "another"));
        for (DelegationChoice choice : List.of(FakeEngine.cpu(1), ALL)) {
            try (ModelInterpreter built =
                    factory.build(FakeEngine.IN_FILE, choice.candidate(), false)) {
                PlanReport report =
                        built.description()
                                .report(List.of(), 3, 2, Optional.empty(), Optional.empty());
                assertEquals(Optional.of("a reason"), report.unplannedReason());
                assertEquals(0, report.plan().arenaBytes());
                assertEquals(3, report.predictions().total());
            }
        }
        try (ModelInterpreter other =
                factory.build(FakeEngine.OTHER, factory.choice().lightest())) {
            assertTrue(other.plan().isPresent());
            assertEquals(Optional.empty(), other.description().unplannedReason());
        }
        assertFreed();
        assertNobodyNeedsAnArena();
    }

    /** Shapes are the callers': no service may grow with every one that it sees. */
    @Test
    void giveUp_moreShapesThanAreKept_forgetsTheOldest() {
        InterpreterFactory factory = engine.factory(threads -> delegate(), FakeEngine.cpu(1));
        try (LogCapture log = new LogCapture()) {
            for (int i = 1; i < 2000; i++) {
                assertTrue(factory.giveUp(List.of(List.of(i, 4)), "a test"));
            }
            assertEquals(1999, log.lines("WARN").size());
            assertTrue(factory.giveUp(List.of(List.of(1, 4)), "a test"));
        }
    }

    @Test
    void leased_interpreter_runsInAnArenaAndFreesIt() throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate(), FakeEngine.cpu(1));
        ModelInterpreter built = factory.build(FakeEngine.IN_FILE, factory.choice().lightest());
        try (LeasedInterpreter leased = LeasedInterpreter.of(built, Duration.ofSeconds(1))) {
            leased.runAgain();
            assertEquals(1, ArenaPool.shared().metric().leased());
        }
        assertFreed();
        assertEquals(0, ArenaPool.shared().metric().arenas());
    }
}
