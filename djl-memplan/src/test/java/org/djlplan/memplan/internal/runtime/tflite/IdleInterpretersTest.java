package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.spi.Candidate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IdleInterpretersTest {

    private static final Duration KEPT = Duration.ofHours(1);
    private static final Candidate CPU = Candidate.cpu(1);
    private static final List<List<Integer>> THIRD = List.of(List.of(3, 4));

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();
    private final InterpreterFactory factory =
            engine.factory(threads -> new FakeEngine.FakeDelegate(() -> {}, delegates));
    private final FakeEngine.Candidates candidates =
            new FakeEngine.Candidates(factory, FakeEngine.cpu(1));
    private final IdleInterpreters idle = new IdleInterpreters(KEPT);
    private final List<ModelInterpreter> built = new ArrayList<>();

    private ModelInterpreter build(List<List<Integer>> shapes) throws UnplannableException {
        ModelInterpreter interpreter = factory.build(shapes, CPU, false);
        built.add(interpreter);
        return interpreter;
    }

    private ModelInterpreter used(List<List<Integer>> shapes) throws UnplannableException {
        ModelInterpreter interpreter = build(shapes);
        idle.addUsed(interpreter);
        return interpreter;
    }

    @AfterEach
    void close() {
        built.forEach(ModelInterpreter::close);
        assertEquals(0, engine.open.get());
    }

    @Test
    void take_severalOfTheShapes_isTheLastUsed() throws Exception {
        ModelInterpreter first = used(FakeEngine.OTHER);
        ModelInterpreter second = used(FakeEngine.OTHER);
        ModelInterpreter unused = build(FakeEngine.OTHER);
        idle.addUnused(unused);
        assertEquals(List.of(second, first, unused), idle.interpreters());
        assertEquals(Optional.empty(), idle.take(FakeEngine.OTHER, Candidate.cpu(2)));
        assertEquals(Optional.empty(), idle.take(THIRD, CPU));
        assertEquals(Optional.of(second), idle.take(FakeEngine.OTHER, CPU));
        assertEquals(List.of(first, unused), idle.interpreters());
    }

    @Test
    void takeOther_noRoom_isTheOldestOfAnyShapes() throws Exception {
        ModelInterpreter inFile = used(FakeEngine.IN_FILE);
        ModelInterpreter other = used(FakeEngine.OTHER);
        assertEquals(Optional.of(inFile), idle.takeOther(THIRD, CPU, false, candidates));
        assertEquals(Optional.of(other), idle.takeOther(THIRD, CPU, false, candidates));
        assertTrue(idle.isEmpty());
    }

    @Test
    void takeOther_room_leavesTheOneForTheFile() throws Exception {
        ModelInterpreter inFile = used(FakeEngine.IN_FILE);
        ModelInterpreter other = used(FakeEngine.OTHER);
        assertEquals(Optional.of(other), idle.takeOther(THIRD, CPU, true, candidates));
        assertEquals(Optional.empty(), idle.takeOther(THIRD, CPU, true, candidates));
        assertEquals(List.of(inFile), idle.interpreters());
    }

    @Test
    void takeOther_roomForRecentShapes_isNone() throws Exception {
        ModelInterpreter other = used(FakeEngine.OTHER);
        idle.noteShapes(THIRD, false);
        assertEquals(Optional.empty(), idle.takeOther(THIRD, CPU, true, candidates));
        for (int i = 0; i < IdleInterpreters.RECENT_SHAPES; i++) {
            idle.noteShapes(List.of(List.of(10 + i, 4)), false);
        }
        assertEquals(Optional.of(other), idle.takeOther(THIRD, CPU, true, candidates));
    }

    /** Interpreters for earlier shapes are gone. */
    @Test
    void takeUnserved_otherCandidateServes_takesAllAndForgetsShapes() throws Exception {
        ModelInterpreter before = used(FakeEngine.OTHER);
        idle.noteShapes(THIRD, false);
        assertEquals(List.of(), idle.takeUnserved(candidates));
        candidates.choose(FakeEngine.cpu(2));
        assertEquals(List.of(before), idle.takeUnserved(candidates));
        assertTrue(idle.isEmpty());
        candidates.choose(FakeEngine.cpu(1));
        ModelInterpreter after = used(FakeEngine.OTHER);
        assertEquals(Optional.of(after), idle.takeOther(THIRD, CPU, true, candidates));
    }

    @Test
    void isOldestStale_notUsedForLong_isTrue() throws Exception {
        long before = System.nanoTime();
        ModelInterpreter first = used(FakeEngine.IN_FILE);
        ModelInterpreter second = used(FakeEngine.IN_FILE);
        assertFalse(idle.isOldestStale(before + KEPT.toNanos() - 1));
        assertTrue(idle.isOldestStale(System.nanoTime() + KEPT.toNanos()));
        assertEquals(first, idle.takeOldest());
        assertEquals(List.of(second), idle.takeAll());
        assertTrue(idle.isEmpty());
    }
}
