package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkersTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final Workers two = new Workers(2, LONG, LONG);
    private final Workers one = new Workers(1, LONG, LONG);

    private static <T> T run(Workers workers, Supplier<T> task) {
        return workers.run("model", task);
    }

    private static Thread where(Workers workers) {
        return run(workers, Thread::currentThread);
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

    /**
     * Runs a pass on each of some threads, which stay alive, so that they keep their seats. An
     * element is null if a worker ran the thread's pass.
     */
    private static List<Thread> whereOnPool(Workers workers, int threads) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CountDownLatch all = new CountDownLatch(threads);
        try {
            List<Future<Boolean>> ran = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                ran.add(
                        pool.submit(
                                () -> {
                                    all.countDown();
                                    all.await();
                                    return where(workers) == Thread.currentThread();
                                }));
            }
            List<Thread> found = new ArrayList<>();
            for (Future<Boolean> each : ran) {
                found.add(each.get() ? Thread.currentThread() : null);
            }
            return found;
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void run_oneCaller_runsInPlace() {
        for (int i = 0; i < 100; i++) {
            assertSame(Thread.currentThread(), where(one));
        }
        assertFalse(Workers.isRunning());
    }

    @Test
    void run_moreCallersThanWorkers_onlySoManyRunInPlace() throws Exception {
        long inPlace = whereOnPool(two, 8).stream().filter(found -> found != null).count();
        assertTrue(inPlace <= 2, inPlace + " in place");
    }

    @Test
    void run_secondCaller_runsOnAWorkerAndReturnsItsResult() throws Exception {
        where(one);
        Thread caller = Thread.currentThread();
        Thread worker = onThread(() -> where(one));
        assertNotEquals(caller, worker);
        assertTrue(worker.getName().startsWith("djl-plan-worker-"), worker.getName());
        assertTrue(worker.isDaemon());
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

    @Test
    void run_manyCallers_neverMoreAtOnceThanWorkersAndOnFewThreads() throws Exception {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        ExecutorService pool = Executors.newFixedThreadPool(32);
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            int number = i;
            results.add(
                    pool.submit(
                            () ->
                                    run(
                                            two,
                                            () -> {
                                                used.add(Thread.currentThread());
                                                most.accumulateAndGet(
                                                        now.incrementAndGet(), Math::max);
                                                // Too many passes at once would overlap here.
                                                LockSupport.parkNanos(10_000);
                                                now.decrementAndGet();
                                                return number;
                                            })));
        }
        for (int i = 0; i < results.size(); i++) {
            assertEquals(i, results.get(i).get());
        }
        pool.shutdown();
        assertTrue(most.get() <= 2, most + " at once");
        long workers =
                used.stream().filter(t -> t.getName().startsWith("djl-plan-worker-")).count();
        assertTrue(workers <= 2, workers + " workers");
        // A seat changes its holder only if a single thread calls.
        assertTrue(used.size() < 16, used.size() + " threads");
    }

    @Test
    void run_whileOthersWait_firstComeFirstServed() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        FutureTask<Integer> first =
                new FutureTask<>(
                        () ->
                                run(
                                        one,
                                        () -> {
                                            began.countDown();
                                            await(release);
                                            return 0;
                                        }));
        new Thread(first).start();
        began.await();
        ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
        List<FutureTask<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            waiting.add(new FutureTask<>(() -> run(one, () -> order.add(number))));
            Thread thread = new Thread(waiting.get(i));
            thread.start();
            awaitQueued(thread);
        }
        release.countDown();
        for (FutureTask<Boolean> each : waiting) {
            assertTrue(each.get());
        }
        assertEquals(List.of(0, 1, 2, 3, 4), List.copyOf(order));
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
                                        () -> run(one, WorkersTest::failing)));
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

    @Test
    void run_insideAnother_runsOnTheSameThread() throws Exception {
        where(one);
        onThread(
                () ->
                        run(
                                one,
                                () -> {
                                    assertTrue(Workers.isRunning());
                                    assertSame(Thread.currentThread(), where(one));
                                    assertSame(Thread.currentThread(), where(two));
                                    return null;
                                }));
    }

    @Test
    void run_callerIsInterrupted_getsItsResultAndStaysInterrupted() throws Exception {
        where(one);
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        FutureTask<Boolean> caller =
                new FutureTask<>(
                        () -> {
                            String result =
                                    run(
                                            one,
                                            () -> {
                                                began.countDown();
                                                await(release);
                                                assertFalse(Thread.interrupted());
                                                return "done";
                                            });
                            return result.equals("done") && Thread.currentThread().isInterrupted();
                        });
        Thread thread = new Thread(caller);
        thread.start();
        began.await();
        thread.interrupt();
        release.countDown();
        assertTrue(caller.get());
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
        Workers impatient = new Workers(1, LONG, Duration.ofMillis(20));
        String result =
                run(
                        impatient,
                        () -> {
                            try {
                                return onThread(() -> run(impatient, () -> "inner"));
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
        assertEquals("inner", result);
    }

    @Test
    void run_idleWorker_endsAndAnotherOneComes() throws Exception {
        Workers shortLived = new Workers(1, Duration.ofMillis(1), LONG);
        where(shortLived);
        Thread worker = onThread(() -> where(shortLived));
        worker.join();
        Thread next = onThread(() -> where(shortLived));
        assertNotEquals(worker, next);
        assertTrue(next.getName().startsWith("djl-plan-worker-"), next.getName());
    }

    /**
     * A seated caller's pass takes so long that the idle worker for the next pass would have ended.
     */
    @Test
    void run_whileASeatedPassTakesLong_workerTakesNoProcessorTime() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        Workers shortLived = new Workers(1, Duration.ofMillis(10), LONG);
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        FutureTask<Void> first =
                new FutureTask<>(
                        () -> {
                            shortLived.run(
                                    "model",
                                    () -> {
                                        began.countDown();
                                        await(release);
                                        return null;
                                    });
                            return null;
                        });
        new Thread(first).start();
        began.await();
        FutureTask<Thread> second = new FutureTask<>(() -> where(shortLived));
        Thread caller = new Thread(second);
        caller.start();
        awaitQueued(caller);
        Thread worker =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(each -> each.getName().equals("djl-plan-worker-1-1"))
                        .filter(Thread::isAlive)
                        .filter(each -> !before.contains(each))
                        .findAny()
                        .orElseThrow();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begin = threads.getThreadCpuTime(worker.getId());
        Thread.sleep(500);
        long used = threads.getThreadCpuTime(worker.getId()) - begin;
        release.countDown();
        first.get();
        assertSame(worker, second.get());
        assertTrue(used < Duration.ofMillis(100).toNanos(), () -> used + " ns");
    }

    /** Five passes of one model already wait when a pass of another model comes: it runs second. */
    @Test
    void run_otherModelsWait_takesTurns() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        FutureTask<Integer> first =
                new FutureTask<>(
                        () ->
                                run(
                                        one,
                                        () -> {
                                            began.countDown();
                                            await(release);
                                            return 0;
                                        }));
        new Thread(first).start();
        began.await();
        ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
        List<FutureTask<Boolean>> waiting = new ArrayList<>();
        for (String name : List.of("a1", "a2", "a3", "a4", "a5", "b1", "b2")) {
            FutureTask<Boolean> task =
                    new FutureTask<>(() -> one.run(name.charAt(0), () -> order.add(name)));
            waiting.add(task);
            Thread thread = new Thread(task);
            thread.start();
            awaitQueued(thread);
        }
        release.countDown();
        for (FutureTask<Boolean> each : waiting) {
            assertTrue(each.get());
        }
        assertEquals(List.of("a1", "b1", "a2", "b2", "a3", "a4", "a5"), List.copyOf(order));
    }
}
