package org.djlplan.memplan.internal.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GateTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private static final long LARGE = Long.MAX_VALUE;

    /** Room for two light predictions. */
    private final Gate gate = new Gate(2, LONG, LONG);

    private final Places two = gate.places(2);
    private final Places one = gate.places(1);
    private final Lane large = gate.lane();
    private final Lane light = gate.lane();

    private <T> T run(Places places, Supplier<T> task) {
        return large(large, places, task);
    }

    private static <T> T large(Lane lane, Places places, Supplier<T> task) {
        return lane.run(places, LARGE, task);
    }

    private <T> T light(Supplier<T> task) {
        return light.run(one, Gate.LIGHT_BYTES, task);
    }

    private Thread where(Places places) {
        return run(places, Thread::currentThread);
    }

    private static <T> T onThread(Callable<T> task) throws Exception {
        FutureTask<T> future = new FutureTask<>(task);
        new Thread(future).start();
        return future.get();
    }

    private static void awaitQueued(Thread thread) {
        Await.until(
                () ->
                        thread.getState() == Thread.State.TIMED_WAITING
                                || thread.getState() == Thread.State.WAITING);
    }

    @Test
    void run_oneCaller_runsInPlace() {
        for (int i = 0; i < 100; i++) {
            assertSame(Thread.currentThread(), where(one));
        }
    }

    @Test
    void run_holderOfTheSeatEnded_nextCallerGetsIt() throws Exception {
        Thread first = onThread(() -> where(one));
        assertFalse(first.getName().startsWith("djl-plan-worker-"), first.getName());
        first.join();
        assertSame(Thread.currentThread(), where(one));
    }

    /**
     * For example, the main thread made the first prediction, and a request thread makes all
     * others.
     */
    @Test
    void run_onlyCallerWithoutASeat_getsIt() throws Exception {
        where(one);
        List<Boolean> inPlace =
                onThread(
                        () -> {
                            List<Boolean> found = new ArrayList<>();
                            for (int i = 0; i < 100; i++) {
                                found.add(where(one) == Thread.currentThread());
                            }
                            return found;
                        });
        assertFalse(inPlace.get(0));
        assertTrue(inPlace.get(99));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String failing() {
        throw new IllegalStateException("as it should");
    }

    @Test
    void run_exceptionOnAWorker_hasBothStacks() throws Exception {
        where(one);
        IllegalStateException problem =
                onThread(
                        () ->
                                assertThrows(
                                        IllegalStateException.class,
                                        () -> run(one, GateTest::failing)));
        List<String> frames =
                Arrays.stream(problem.getStackTrace())
                        .map(StackTraceElement::getMethodName)
                        .toList();
        assertEquals("failing", frames.get(0));
        assertTrue(frames.indexOf("onThread") < 0 && frames.contains("assertThrows"), frames + "");
        assertTrue(frames.indexOf("failing") < frames.indexOf("assertThrows"), frames + "");
        assertEquals(frames.size(), frames.stream().filter(f -> !f.equals("take")).count());
    }

    @Test
    void run_errorOnAWorker_isRethrown() throws Exception {
        where(one);
        StackOverflowError error = new StackOverflowError();
        assertSame(
                error,
                onThread(
                        () ->
                                assertThrows(
                                        StackOverflowError.class,
                                        () ->
                                                run(
                                                        one,
                                                        () -> {
                                                            throw error;
                                                        }))));
        // The worker serves the next pass.
        assertEquals("next", onThread(() -> run(one, () -> "next")));
    }

    /** A block may catch an interrupt and set the flag again. */
    @Test
    void run_passInterruptsItsThread_callerIsInterruptedAndTheWorkerIsNot() throws Exception {
        where(one);
        assertTrue(
                onThread(
                        () -> {
                            run(
                                    one,
                                    () -> {
                                        Thread.currentThread().interrupt();
                                        return null;
                                    });
                            return Thread.currentThread().isInterrupted();
                        }));
        assertFalse(onThread(() -> run(one, () -> Thread.currentThread().isInterrupted())));
    }

    /** A pass waits for another thread's pass, which waits for a worker. */
    @Test
    void run_passesThatWaitForEachOther_continue() throws Exception {
        Gate other = new Gate(1, LONG, Duration.ofMillis(20));
        Lane lane = other.lane();
        Places impatient = other.places(1);
        String result =
                large(
                        lane,
                        impatient,
                        () -> {
                            try {
                                return onThread(() -> large(lane, impatient, () -> "inner"));
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
        assertEquals("inner", result);
    }

    @Test
    void run_idleWorker_endsAndAnotherOneComes() throws Exception {
        Gate other = new Gate(1, Duration.ofMillis(1), LONG);
        Lane lane = other.lane();
        Places own = other.ownPlace();
        Thread worker = large(lane, own, Thread::currentThread);
        worker.join();
        Thread next = large(lane, own, Thread::currentThread);
        assertNotEquals(worker, next);
        assertTrue(next.getName().startsWith("djl-plan-worker-"), next.getName());
    }

    /** Keeps a large prediction running at the only place until it is ended. */
    private final class Holder {
        private final CountDownLatch release = new CountDownLatch(1);
        private final FutureTask<Void> pass;

        Holder(Lane lane) throws InterruptedException {
            long bytes = lane == light ? Gate.LIGHT_BYTES : LARGE;
            CountDownLatch began = new CountDownLatch(1);
            pass =
                    new FutureTask<>(
                            () ->
                                    lane.run(
                                            one,
                                            bytes,
                                            () -> {
                                                began.countDown();
                                                GateTest.await(release);
                                                return null;
                                            }));
            Thread thread = new Thread(pass);
            thread.setDaemon(true);
            thread.start();
            began.await();
        }

        void end() throws Exception {
            release.countDown();
            pass.get();
        }
    }

    /** Starts a prediction on a thread of its own, and returns when it waits. */
    private static <T> FutureTask<T> waiting(Callable<T> prediction) {
        FutureTask<T> task = new FutureTask<>(prediction);
        Thread thread = new Thread(task);
        thread.start();
        awaitQueued(thread);
        return task;
    }

    /** Five passes of one model already wait when a pass of another model comes: it runs second. */
    @Test
    void run_otherModelsWait_takesTurns() throws Exception {
        ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
        Map<Character, Lane> lanes = Map.of('a', gate.lane(), 'b', gate.lane());
        List<FutureTask<Boolean>> waiting = new ArrayList<>();
        Holder holder = new Holder(large);
        for (String name : List.of("a1", "a2", "a3", "a4", "a5", "b1", "b2")) {
            Lane lane = lanes.get(name.charAt(0));
            waiting.add(waiting(() -> large(lane, one, () -> order.add(name))));
        }
        assertEquals(new Gate.Metric(1, 7), gate.metric());
        holder.end();
        for (FutureTask<Boolean> each : waiting) {
            assertTrue(each.get());
        }
        assertEquals(List.of("a1", "b1", "a2", "b2", "a3", "a4", "a5"), List.copyOf(order));
    }

    @Test
    void run_lightBeyondItsPlaces_waitsForLightOnesOnly() throws Exception {
        Holder holder = new Holder(large);
        Holder first = new Holder(light);
        Holder second = new Holder(light);
        FutureTask<Thread> third = waiting(() -> light(Thread::currentThread));
        FutureTask<Thread> largeOne = waiting(() -> where(one));
        first.end();
        assertNotEquals("", third.get().getName());
        assertFalse(largeOne.isDone());
        holder.end();
        second.end();
    }

    /** Two run for a second, so that there is more than one on average. */
    @Test
    void run_lightModelWithManyCallers_takesTurnsWithLargeOnes() throws Exception {
        Holder holder = new Holder(large);
        Holder first = new Holder(light);
        Holder second = new Holder(light);
        Thread.sleep(1000);
        first.end();
        FutureTask<Thread> third = waiting(() -> light(Thread::currentThread));
        assertFalse(third.isDone());
        holder.end();
        assertNotEquals("", third.get().getName());
        second.end();
    }

    /** Two callers wait for the only interpreter of a model; the place serves another model. */
    @Test
    void run_modelHasReachedItsLimit_holdsNoPlace() throws Exception {
        Lane limited = gate.lane(1, PoolReport.Cause.INTERPRETERS);
        long before = Waits.count(PoolReport.Cause.INTERPRETERS);
        List<FutureTask<Thread>> waiting = new ArrayList<>();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        FutureTask<Integer> first =
                new FutureTask<>(
                        () ->
                                large(
                                        limited,
                                        two,
                                        () -> {
                                            began.countDown();
                                            await(release);
                                            return 0;
                                        }));
        new Thread(first).start();
        began.await();
        for (int i = 0; i < 2; i++) {
            waiting.add(waiting(() -> large(limited, two, Thread::currentThread)));
        }
        assertNotEquals("", where(two).getName());
        assertFalse(waiting.get(0).isDone() || waiting.get(1).isDone());
        release.countDown();
        for (FutureTask<Thread> each : waiting) {
            assertNotEquals("", each.get().getName());
        }
        assertEquals(before + 2, Waits.count(PoolReport.Cause.INTERPRETERS));
    }

    @Test
    void run_withoutPlaces_waitsForItsLimitOnly() throws Exception {
        Lane limited = gate.lane(1, PoolReport.Cause.ARENAS);
        Holder holder = new Holder(large);
        assertSame(Thread.currentThread(), large(limited, gate.places(0), Thread::currentThread));
        holder.end();
    }

    @Test
    void ownPlace_anyCaller_runsOnItsWorker() throws Exception {
        Places own = gate.ownPlace();
        Thread worker = where(own);
        assertTrue(worker.getName().startsWith("djl-plan-worker-"), worker.getName());
        assertSame(worker, onThread(() -> where(own)));
    }
}
