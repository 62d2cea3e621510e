package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class InterpreterPoolTest {

    private static final Duration NEVER = Duration.ofHours(1);
    private static final DelegationChoice ALL = FakeEngine.delegated(ImmutableSortedSet.of(0, 1));

    private static final Candidate TWO = new Candidate(ImmutableSortedSet.of(0, 1), 2);
    private static final Candidate ONE = new Candidate(ImmutableSortedSet.of(0), 1);
    private static final DelegationChoice TWO_OR_ONE =
            new DelegationChoice(TWO, List.of(ONE), Origin.MEASURED, "a test", List.of());

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private volatile Runnable atClose = () -> {};
    private FakeEngine.Candidates candidates = candidates(FakeEngine.cpu(1));

    private FakeEngine.Candidates candidates(DelegationChoice choice) {
        return new FakeEngine.Candidates(
                engine.factory(
                        threads -> new FakeEngine.FakeDelegate(() -> atClose.run(), delegates)),
                choice);
    }

    private ModelInterpreter built(DelegationChoice choice) throws Exception {
        return candidates(choice).build(FakeEngine.IN_FILE, choice.lightest());
    }

    private void switchTo(
            InterpreterPool pool, DelegationChoice choice, Optional<ModelInterpreter> first) {
        pool.switchTo(() -> candidates.choose(choice), first);
    }

    private InterpreterPool pool(int limit) {
        return pool(limit, NEVER);
    }

    private InterpreterPool pool(int limit, Duration idleAfter) {
        return new InterpreterPool(limit, idleAfter, candidates, ended::incrementAndGet);
    }

    private ModelInterpreter borrow(InterpreterPool pool) throws Exception {
        return borrow(pool, FakeEngine.IN_FILE);
    }

    private ModelInterpreter borrow(InterpreterPool pool, List<List<Integer>> shapes)
            throws Exception {
        return pool.borrow(shapes, candidates.choice().lightest());
    }

    /** A call on another thread. */
    private record Call<T>(FutureTask<T> task) {

        static <T> Call<T> of(Callable<T> call) {
            FutureTask<T> task = new FutureTask<>(call);
            new Thread(task).start();
            return new Call<>(task);
        }

        T get() throws Exception {
            return task.get(30, TimeUnit.SECONDS);
        }
    }

    private void assertEnded() {
        assertEquals(1, ended.get());
        assertEquals(0, engine.open.get());
        assertEquals(0, delegates.get());
    }

    private static List<List<Integer>> length(int length) {
        return List.of(List.of(1, length));
    }

    @Test
    void borrow_newShapes_haveTheSameInterpreterAllocatedAnew() throws Exception {
        try (InterpreterPool pool = pool(3)) {
            ModelInterpreter inFile = borrow(pool);
            pool.giveBack(inFile);
            ModelInterpreter other = borrow(pool, length(10));
            assertNotSame(inFile, other);
            pool.giveBack(other);
            for (int length = 11; length < 40; length++) {
                assertSame(other, borrow(pool, length(length)));
                assertTrue(other.hasShapes(length(length)));
                pool.giveBack(other);
            }
            assertSame(inFile, borrow(pool));
            pool.giveBack(inFile);
            assertEquals(2, engine.mostOpen.get());
        }
        assertEnded();
    }

    @Test
    void borrow_shapesThatComeBack_getAnInterpreterWhereThereIsRoom() throws Exception {
        try (InterpreterPool pool = pool(3)) {
            pool.giveBack(borrow(pool));
            pool.giveBack(borrow(pool, length(10)));
            pool.giveBack(borrow(pool, length(11)));
            ModelInterpreter back = borrow(pool, length(10));
            pool.giveBack(back);
            ModelInterpreter stays = borrow(pool, length(11));
            pool.giveBack(stays);
            assertNotSame(stays, back);
            assertSame(back, borrow(pool, length(10)));
            pool.giveBack(back);
            // There is no room, so the least recently used interpreter goes, even if it is for the
            // file's shapes.
            pool.giveBack(borrow(pool, length(12)));
            assertEquals(3, engine.mostOpen.get());
        }
        assertEnded();
    }

    @Test
    void borrow_shapesThatTheEngineRefuses_closeTheInterpreterThatWasToTakeThem() throws Exception {
        try (InterpreterPool pool = pool(2)) {
            pool.giveBack(borrow(pool));
            pool.giveBack(borrow(pool, length(10)));
            engine.beforeTensors =
                    () -> {
                        throw new IllegalStateException("refused");
                    };
            assertThrows(IllegalStateException.class, () -> borrow(pool, length(11)));
            engine.beforeTensors = () -> {};
            assertEquals(1, engine.open.get());
            pool.giveBack(borrow(pool, length(11)));
            assertEquals(2, engine.open.get());
        }
        assertEnded();
    }

    @Test
    void borrow_whileAnotherIsClosedForLong_neitherWaitsNorEndsEarly() throws Exception {
        candidates = candidates(ALL);
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        InterpreterPool pool = pool(2);
        assertTrue(pool.begin());
        ModelInterpreter slow = borrow(pool);
        atClose =
                () -> {
                    closing.countDown();
                    awaitUninterrupted(release);
                };
        Call<Boolean> discarding =
                Call.of(
                        () -> {
                            pool.discard(slow);
                            pool.end();
                            return true;
                        });
        closing.await();
        atClose = () -> {};
        ModelInterpreter other = borrow(pool);
        pool.giveBack(other);
        pool.close();
        assertEquals(0, ended.get(), "what is being closed still needs the model");
        release.countDown();
        assertTrue(discarding.get());
        assertEnded();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void giveBack_unusedForLong_allButOneAreClosed() throws Exception {
        try (InterpreterPool pool = pool(3, Duration.ofMillis(5))) {
            List<ModelInterpreter> all = List.of(borrow(pool), borrow(pool), borrow(pool));
            all.forEach(pool::giveBack);
            Await.until(() -> engine.open.get() <= 1);
            assertEquals(List.of(all.get(2)), pool.interpreters());
        }
        assertEnded();
    }

    @Test
    void giveBack_muchMemoryIsIdle_keepsTheLastOneAndThatOfTheFile() throws Exception {
        try (InterpreterPool pool = pool(3)) {
            ModelInterpreter large = borrow(pool, length(20 << 20));
            ModelInterpreter inFile = borrow(pool);
            ModelInterpreter last = borrow(pool, length((20 << 20) + 1));
            pool.giveBack(large);
            pool.giveBack(inFile);
            assertEquals(3, pool.interpreters().size());
            pool.giveBack(last);
            assertEquals(List.of(last, inFile), pool.interpreters());
        }
        assertEnded();
    }

    /** One interpreter of each candidate is kept, so that switching back builds none. */
    @Test
    void borrow_candidatesInTurns_keepsAnInterpreterOfEach() throws Exception {
        candidates = candidates(TWO_OR_ONE);
        try (InterpreterPool pool = pool(1)) {
            ModelInterpreter one = pool.borrow(FakeEngine.IN_FILE, ONE);
            assertTrue(one.delegates(ONE));
            pool.giveBack(one);
            ModelInterpreter two = pool.borrow(FakeEngine.IN_FILE, TWO);
            assertTrue(two.delegates(TWO));
            pool.giveBack(two);
            for (int i = 0; i < 3; i++) {
                assertSame(one, pool.borrow(FakeEngine.IN_FILE, ONE));
                pool.giveBack(one);
                assertSame(two, pool.borrow(FakeEngine.IN_FILE, TWO));
                pool.giveBack(two);
            }
        }
        assertEnded();
        assertEquals(2, engine.mostOpen.get());
    }

    /** Threads predict with two kinds of shapes while the choice changes. */
    @Test
    void everything_atOnce_keepsNoMoreThanTheLimitAndEnds() throws Exception {
        int limit = 3;
        InterpreterPool pool = pool(limit, Duration.ofNanos(1));
        // As the gate does.
        Semaphore limited = new Semaphore(limit);
        List<Call<Integer>> calls = new ArrayList<>();
        for (int seed = 0; seed < 6; seed++) {
            Random random = new Random(seed);
            calls.add(Call.of(() -> predictOften(pool, random, limited)));
        }
        for (int i = 0; i < 200; i++) {
            DelegationChoice choice = i % 2 == 0 ? ALL : FakeEngine.cpu(1);
            assertTrue(pool.enter());
            switchTo(pool, choice, Optional.of(built(choice)));
            pool.leave();
        }
        for (Call<Integer> call : calls) {
            assertEquals(300, call.get());
        }
        assertTrue(pool.interpreters().size() <= limit);
        pool.close();
        // Idle interpreters may be being closed in the background.
        Await.until(() -> ended.get() == 1);
        assertEnded();
        // Those that are being closed, one that is built outside, and one that is not in the pool.
        assertTrue(engine.mostOpen.get() <= 2 * limit + 2, engine.mostOpen.toString());
    }

    private int predictOften(InterpreterPool pool, Random random, Semaphore limited)
            throws Exception {
        int count = 0;
        for (; count < 300; count++) {
            List<List<Integer>> shapes =
                    random.nextInt(3) == 0 ? FakeEngine.OTHER : FakeEngine.IN_FILE;
            limited.acquire();
            ModelInterpreter interpreter = borrow(pool, shapes);
            int bytes = shapes.equals(FakeEngine.OTHER) ? 32 : 16;
            assertEquals(1, interpreter.runStock(List.of(ByteBuffer.allocate(bytes))).size());
            if (random.nextInt(10) == 0) {
                pool.discard(interpreter);
            } else {
                pool.giveBack(interpreter);
            }
            limited.release();
        }
        return count;
    }
}
