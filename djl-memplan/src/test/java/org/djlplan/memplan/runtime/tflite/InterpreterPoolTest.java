package org.djlplan.memplan.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableSortedSet;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.spi.DelegationChoice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class InterpreterPoolTest {

    private static final Duration NEVER = Duration.ofHours(1);
    private static final DelegationChoice ALL = FakeEngine.delegated(ImmutableSortedSet.of(0, 1));

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private volatile Runnable atClose = () -> {};
    private InterpreterFactory factory = factory(FakeEngine.cpu(1));

    private InterpreterFactory factory(DelegationChoice choice) {
        return engine.factory(
                threads -> new FakeEngine.FakeDelegate(() -> atClose.run(), delegates), choice);
    }

    private InterpreterPool pool(int limit) {
        return pool(limit, NEVER);
    }

    private InterpreterPool pool(int limit, Duration idleAfter) {
        return new InterpreterPool(limit, idleAfter, factory, ended::incrementAndGet);
    }

    private void delegateAllAndThrowAtClose() {
        factory = factory(ALL);
        atClose =
                () -> {
                    throw new UnsupportedOperationException();
                };
    }

    private static PlannedInterpreter borrow(InterpreterPool pool) throws Exception {
        return pool.borrow(FakeEngine.IN_FILE);
    }

    /** A call on a thread of its own. */
    private record Call<T>(FutureTask<T> task, Thread thread) {

        static <T> Call<T> of(Callable<T> call) {
            FutureTask<T> task = new FutureTask<>(call);
            Thread thread = new Thread(task);
            thread.start();
            return new Call<>(task, thread);
        }

        void assertWaits() {
            while (thread.getState() != Thread.State.WAITING) {
                assertFalse(task.isDone(), "it did not wait");
                Thread.onSpinWait();
            }
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

    @Test
    void borrow_givenBack_isTheSameAgain() throws Exception {
        try (InterpreterPool pool = pool(2)) {
            PlannedInterpreter first = borrow(pool);
            pool.giveBack(first);
            assertSame(first, borrow(pool));
            assertNotSame(first, borrow(pool));
            pool.interpreters().forEach(pool::giveBack);
            assertEquals(2, pool.interpreters().size());
        }
        assertEnded();
    }

    @Test
    void borrow_atTheLimit_waitsForTheNextReturn() throws Exception {
        try (InterpreterPool pool = pool(1)) {
            PlannedInterpreter first = borrow(pool);
            Call<PlannedInterpreter> waiting = Call.of(() -> borrow(pool));
            waiting.assertWaits();
            pool.giveBack(first);
            assertSame(first, waiting.get());
            Call<PlannedInterpreter> next = Call.of(() -> borrow(pool));
            next.assertWaits();
            pool.discard(first);
            assertNotSame(first, next.get());
            pool.giveBack(next.get());
        }
        assertEnded();
        assertEquals(1, engine.mostOpen.get());
    }

    @Test
    void borrow_otherShapes_closesAnIdleOneFirst() throws Exception {
        try (InterpreterPool pool = pool(1)) {
            pool.giveBack(borrow(pool));
            PlannedInterpreter other = pool.borrow(FakeEngine.OTHER);
            assertTrue(other.hasShapes(FakeEngine.OTHER));
            pool.giveBack(other);
            pool.giveBack(borrow(pool));
        }
        assertEnded();
        assertEquals(1, engine.mostOpen.get());
    }

    @Test
    void switchTo_allBusy_lendsNoMoreThanTheLimit() throws Exception {
        try (InterpreterPool pool = pool(1)) {
            PlannedInterpreter old = borrow(pool);
            PlannedInterpreter first = factory.build(FakeEngine.IN_FILE, ALL.candidate(), false);
            pool.switchTo(ALL, first);
            Call<PlannedInterpreter> waiting = Call.of(() -> borrow(pool));
            waiting.assertWaits();
            pool.giveBack(old);
            assertSame(first, waiting.get());
            assertEquals(1, engine.open.get(), "the old one is closed");
            pool.giveBack(first);
        }
        assertEnded();
    }

    /** Nor does one for other shapes take the place of the idle one. */
    @Test
    void switchTo_allBusyAndOtherShapesAskedFor_lendsNoMoreThanTheLimit() throws Exception {
        try (InterpreterPool pool = pool(1)) {
            PlannedInterpreter old = borrow(pool);
            pool.switchTo(ALL, factory.build(FakeEngine.IN_FILE, ALL.candidate(), false));
            Call<PlannedInterpreter> waiting = Call.of(() -> pool.borrow(FakeEngine.OTHER));
            waiting.assertWaits();
            pool.giveBack(old);
            pool.giveBack(waiting.get());
        }
        assertEnded();
    }

    @Test
    void switchTo_sameCandidate_keepsNoMoreThanTheLimit() throws Exception {
        try (InterpreterPool pool = pool(2)) {
            PlannedInterpreter one = borrow(pool);
            PlannedInterpreter two = borrow(pool);
            pool.switchTo(FakeEngine.cpu(1), factory.build(FakeEngine.IN_FILE));
            pool.giveBack(one);
            pool.giveBack(two);
            assertEquals(2, pool.interpreters().size());
            assertEquals(2, engine.open.get());
        }
        assertEnded();
    }

    @Test
    void switchTo_closedPool_closesTheFirstOfTheNewChoice() throws Exception {
        InterpreterPool pool = pool(1);
        pool.enter();
        PlannedInterpreter first = factory.build(FakeEngine.IN_FILE);
        pool.close();
        assertEquals(0, ended.get());
        pool.switchTo(ALL, first);
        assertEquals(0, ended.get(), "it was entered");
        pool.leave();
        assertEnded();
        assertThrows(IllegalStateException.class, pool::enter);
    }

    /** Predictions go on while an interpreter of another choice is built. */
    @Test
    void enter_atTheLimit_lendsAllTheSame() throws Exception {
        try (InterpreterPool pool = pool(1)) {
            pool.enter();
            pool.giveBack(borrow(pool));
            pool.leave();
        }
        assertEnded();
    }

    @Test
    void discard_delegateThatThrowsAtClose_wakesWhoWaits() throws Exception {
        delegateAllAndThrowAtClose();
        try (InterpreterPool pool = pool(1)) {
            PlannedInterpreter first = borrow(pool);
            Call<PlannedInterpreter> waiting = Call.of(() -> borrow(pool));
            waiting.assertWaits();
            pool.discard(first);
            pool.giveBack(waiting.get());
        }
        assertEnded();
    }

    @Test
    void close_delegatesThatThrowAtClose_freesEachOnceAndEnds() throws Exception {
        delegateAllAndThrowAtClose();
        InterpreterPool pool = pool(3);
        List<PlannedInterpreter> all = List.of(borrow(pool), borrow(pool), borrow(pool));
        pool.giveBack(all.get(0));
        pool.giveBack(all.get(1));
        pool.close();
        assertEquals(0, ended.get());
        pool.giveBack(all.get(2));
        pool.close();
        assertEnded();
    }

    @Test
    void switchTo_delegatesThatThrowAtClose_goesOver() throws Exception {
        delegateAllAndThrowAtClose();
        try (InterpreterPool pool = pool(2)) {
            List<PlannedInterpreter> old = List.of(borrow(pool), borrow(pool));
            old.forEach(pool::giveBack);
            PlannedInterpreter first =
                    factory.build(FakeEngine.IN_FILE, FakeEngine.cpu(1).candidate(), false);
            pool.switchTo(FakeEngine.cpu(1), first);
            assertEquals(0, delegates.get());
            assertEquals(List.of(first), pool.interpreters());
        }
        assertEnded();
    }

    @Test
    void borrow_delegateOfTheEvictedThrowsAtClose_lendsAndEnds() throws Exception {
        delegateAllAndThrowAtClose();
        try (InterpreterPool pool = pool(1)) {
            pool.giveBack(borrow(pool));
            pool.giveBack(pool.borrow(FakeEngine.OTHER));
            pool.giveBack(borrow(pool));
        }
        assertEnded();
    }

    @Test
    void borrow_whileAnotherIsClosedForLong_neitherWaitsNorEndsEarly() throws Exception {
        factory = factory(ALL);
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        InterpreterPool pool = pool(2);
        PlannedInterpreter slow = borrow(pool);
        atClose =
                () -> {
                    closing.countDown();
                    awaitUninterrupted(release);
                };
        Call<Boolean> discarding =
                Call.of(
                        () -> {
                            pool.discard(slow);
                            return true;
                        });
        closing.await();
        atClose = () -> {};
        PlannedInterpreter other = borrow(pool);
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
            List<PlannedInterpreter> all = List.of(borrow(pool), borrow(pool), borrow(pool));
            all.forEach(pool::giveBack);
            while (engine.open.get() > 1) {
                Thread.onSpinWait();
            }
            assertEquals(List.of(all.get(2)), pool.interpreters());
        }
        assertEnded();
    }

    @Test
    void close_whileOthersWait_theyAreTold() throws Exception {
        InterpreterPool pool = pool(1);
        PlannedInterpreter busy = borrow(pool);
        Call<PlannedInterpreter> waiting = Call.of(() -> borrow(pool));
        waiting.assertWaits();
        pool.close();
        ExecutionException told = assertThrows(ExecutionException.class, waiting::get);
        assertEquals("the model is closed", told.getCause().getMessage());
        assertThrows(IllegalStateException.class, pool::requireOpen);
        pool.giveBack(busy);
        assertEnded();
    }

    @Test
    void borrow_interruptedOrNotBuilt_leavesItsPlaceToOthers() throws Exception {
        try (InterpreterPool pool = pool(1)) {
            engine.beforeTensors =
                    () -> {
                        throw new IllegalStateException("no luck");
                    };
            assertThrows(IllegalStateException.class, () -> borrow(pool));
            engine.beforeTensors = () -> {};
            PlannedInterpreter busy = borrow(pool);
            Call<PlannedInterpreter> interrupted = Call.of(() -> borrow(pool));
            interrupted.assertWaits();
            interrupted.thread().interrupt();
            ExecutionException told = assertThrows(ExecutionException.class, interrupted::get);
            assertEquals(InterruptedException.class, told.getCause().getClass());
            pool.giveBack(busy);
            pool.giveBack(borrow(pool));
        }
        assertEnded();
    }

    /** Threads predict with two kinds of shapes while the choice changes. */
    @Test
    void everything_atOnce_keepsToTheLimitAndEnds() throws Exception {
        int limit = 3;
        InterpreterPool pool = pool(limit, Duration.ofNanos(1));
        AtomicInteger lent = new AtomicInteger();
        List<Call<Integer>> calls = new ArrayList<>();
        for (int seed = 0; seed < 6; seed++) {
            Random random = new Random(seed);
            calls.add(Call.of(() -> predictOften(pool, random, lent, limit)));
        }
        for (int i = 0; i < 200; i++) {
            DelegationChoice choice = i % 2 == 0 ? ALL : FakeEngine.cpu(1);
            pool.enter();
            try {
                pool.switchTo(choice, factory.build(FakeEngine.IN_FILE, choice.candidate(), false));
            } finally {
                pool.leave();
            }
        }
        for (Call<Integer> call : calls) {
            assertEquals(300, call.get());
        }
        assertTrue(pool.interpreters().size() <= limit);
        pool.close();
        assertEnded();
        // One that is built outside, and one that is not yet taken in.
        assertTrue(engine.mostOpen.get() <= limit + 2, engine.mostOpen.toString());
    }

    private static int predictOften(
            InterpreterPool pool, Random random, AtomicInteger lent, int limit) throws Exception {
        int count = 0;
        for (; count < 300; count++) {
            List<List<Integer>> shapes =
                    random.nextInt(3) == 0 ? FakeEngine.OTHER : FakeEngine.IN_FILE;
            PlannedInterpreter interpreter = pool.borrow(shapes);
            assertTrue(lent.incrementAndGet() <= limit, "more than the limit are in use");
            int bytes = shapes.equals(FakeEngine.OTHER) ? 32 : 16;
            assertEquals(1, interpreter.runStock(List.of(ByteBuffer.allocate(bytes))).size());
            lent.decrementAndGet();
            if (random.nextInt(10) == 0) {
                pool.discard(interpreter);
            } else {
                pool.giveBack(interpreter);
            }
        }
        return count;
    }
}
