package org.djlplan.memplan.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BackgroundSearchTest {

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(30, TimeUnit.SECONDS);
        assertTrue(next != null, "nothing came");
        return next;
    }

    @Test
    void start_several_runOneAfterAnotherInOneThreadOfLeastPriority() throws Exception {
        BlockingQueue<Thread> threads = new ArrayBlockingQueue<>(3);
        AtomicBoolean running = new AtomicBoolean();
        AtomicBoolean together = new AtomicBoolean();
        for (int i = 0; i < 3; i++) {
            BackgroundSearch unused =
                    BackgroundSearch.start(
                            () -> {
                                together.compareAndSet(false, running.getAndSet(true));
                                LockSupport.parkNanos(1_000_000);
                                running.set(false);
                                threads.add(Thread.currentThread());
                            });
        }
        Thread thread = next(threads);
        assertEquals(thread, next(threads));
        assertEquals(thread, next(threads));
        assertFalse(together.get());
        assertTrue(thread.isDaemon());
        assertEquals(BackgroundSearch.THREAD, thread.getName());
        assertEquals(Thread.MIN_PRIORITY, thread.getPriority());
        // Nothing is left to do.
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertFalse(thread.isAlive());
    }

    @Test
    void cancel_running_interruptsAndTheNextRunsUndisturbed() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        BlockingQueue<String> events = new ArrayBlockingQueue<>(2);
        BackgroundSearch first =
                BackgroundSearch.start(
                        () -> {
                            begun.countDown();
                            try {
                                new CountDownLatch(1).await();
                            } catch (InterruptedException e) {
                                events.add("interrupted");
                            }
                        });
        begun.await();
        BackgroundSearch next =
                BackgroundSearch.start(
                        () -> events.add("next " + Thread.currentThread().isInterrupted()));
        assertFalse(first.isDone());
        first.cancel();
        first.cancel();
        assertTrue(first.isDone());
        assertEquals("interrupted", next(events));
        assertEquals("next false", next(events));
        next.cancel();
    }

    @Test
    void cancel_waiting_neverRuns() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        BlockingQueue<String> events = new ArrayBlockingQueue<>(2);
        BackgroundSearch unused = BackgroundSearch.start(() -> awaitQuietly(release));
        BackgroundSearch cancelled = BackgroundSearch.start(() -> events.add("cancelled"));
        BackgroundSearch last = BackgroundSearch.start(() -> events.add("last"));
        cancelled.cancel();
        release.countDown();
        assertEquals("last", next(events));
        assertTrue(events.isEmpty());
        last.cancel();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void start_workThatThrows_isFollowedByOther() throws Exception {
        BlockingQueue<String> events = new ArrayBlockingQueue<>(1);
        BackgroundSearch unused =
                BackgroundSearch.start(
                        () -> {
                            throw new StackOverflowError();
                        });
        BackgroundSearch other = BackgroundSearch.start(() -> events.add("other"));
        assertEquals("other", next(events));
        other.cancel();
    }
}
