package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.internal.runtime.tflite.FakeEngine;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterPool;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.report.DelegationReport.Origin;
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
    private static final DelegationChoice TWO_OR_ONE =
            new DelegationChoice(
                    new Candidate(ImmutableSortedSet.of(0, 1), 2),
                    List.of(ONE.candidate()),
                    Origin.MEASURED,
                    "a test",
                    List.of());

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

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

    /** Returns a factory that throws, as an application's factory of delegates may. */
    private static DelegateFactory throwing() {
        return threads -> {
            throw new UnsupportedOperationException();
        };
    }

    @Test
    void build_delegateThatThrowsAnything_delegatesNothingFromThenOn() throws Exception {
        ServedCandidates candidates = candidates(throwing(), ALL);
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 2; i++) {
                try (ModelInterpreter built =
                        candidates.build(FakeEngine.IN_FILE, candidates.choice().lightest())) {
                    assertEquals(0, built.description().delegatedOperators());
                    assertTrue(built.planned());
                }
            }
            assertEquals(1, log.lines("WARN").size(), log.lines().toString());
        }
        assertFalse(candidates.choice().candidate().delegates());
        assertFreed();
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

    /** An interpreter that had the largest shapes serves smaller ones in the same workspace. */
    @Test
    void build_otherShapesThatAreDelegated_hadTheLargestFirst() throws Exception {
        OtherShapes otherShapes = new OtherShapes("fake");
        ServedCandidates candidates = candidates(threads -> delegate(), ALL, otherShapes);
        otherShapes.use(new ShapeMix(List.of(rows(2), rows(3), rows(9)), 1), ALL);
        engine.allocated.clear();
        try (ModelInterpreter built = candidates.build(rows(2), ALL.candidate())) {
            assertTrue(built.delegates(ALL.candidate()));
            assertTrue(built.hasShapes(rows(2)));
        }
        assertEquals(List.of(rows(9).get(0), rows(2).get(0)), engine.allocated);
        assertFreed();
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

    /** State cannot move from one candidate's interpreter to another's. */
    @Test
    void choice_modelThatKeepsState_hasOneCandidate() {
        ServedCandidates candidates =
                new ServedCandidates(
                        "stateful",
                        true,
                        engine.factory(threads -> delegate()),
                        TWO_OR_ONE,
                        new OtherShapes("stateful"));
        assertEquals(ONE, candidates.choice());
    }

    @Test
    void serving_candidateOfAnotherChoice_isTheLightestOfThisOne() {
        ServedCandidates candidates = candidates(threads -> delegate(), TWO_OR_ONE);
        assertEquals(2, candidates.candidates());
        for (Candidate served : TWO_OR_ONE.candidates()) {
            assertEquals(served, candidates.serving(FakeEngine.IN_FILE, served));
        }
        assertEquals(ONE.candidate(), candidates.serving(FakeEngine.IN_FILE, ALL.candidate()));
        assertEquals(Candidate.cpu(1), candidates.serving(FakeEngine.OTHER, ALL.candidate()));
        candidates.choose(ALL);
        assertEquals(1, candidates.candidates());
        assertEquals(ALL.candidate(), candidates.serving(FakeEngine.IN_FILE, ONE.candidate()));
    }

    /** One thread alone, then four, again and again, on two processors. */
    @Test
    void governed_oneThreadAndFour_neverMoreThreadsThanProcessors() throws Exception {
        AtomicLong clock = new AtomicLong();
        Processors processors =
                new Processors(
                        2,
                        () -> clock.addAndGet(5_000_000),
                        Optional::empty,
                        Duration.ofMinutes(1));
        ThreadGovernor governor = new ThreadGovernor(TWO_OR_ONE, processors);
        AtomicInteger atOnce = new AtomicInteger();
        int[] served = new int[3];
        try (InterpreterPool pool =
                new InterpreterPool(
                        2,
                        Duration.ofHours(1),
                        candidates(threads -> delegate(), TWO_OR_ONE),
                        ended::incrementAndGet)) {
            for (int i = 0; i < 6; i++) {
                List<FutureTask<int[]>> calls = new ArrayList<>();
                for (int thread = i % 2 == 0 ? 3 : 0; thread < 4; thread++) {
                    FutureTask<int[]> call =
                            new FutureTask<>(() -> predictGoverned(pool, governor, atOnce));
                    new Thread(call).start();
                    calls.add(call);
                }
                for (FutureTask<int[]> call : calls) {
                    int[] counts = call.get(30, TimeUnit.SECONDS);
                    served[1] += counts[1];
                    served[2] += counts[2];
                }
            }
            assertTrue(pool.interpreters().size() <= 3);
        }
        assertEquals(1, ended.get());
        assertFreed();
        assertTrue(served[1] > 0 && served[2] > 0, Arrays.toString(served));
    }

    private static int[] predictGoverned(
            InterpreterPool pool, ThreadGovernor governor, AtomicInteger atOnce) throws Exception {
        int[] served = new int[3];
        for (int i = 0; i < 500; i++) {
            ThreadGovernor.Gear gear = governor.begin();
            int threads = gear.candidate().threads();
            ModelInterpreter interpreter = pool.borrow(FakeEngine.IN_FILE, gear.candidate());
            assertTrue(interpreter.delegates(gear.candidate()));
            assertTrue(atOnce.addAndGet(threads) <= 2, "more threads than processors");
            Thread.onSpinWait();
            atOnce.addAndGet(-threads);
            pool.giveBack(interpreter);
            governor.end(gear, 1_000_000, true);
            served[threads]++;
        }
        return served;
    }
}
