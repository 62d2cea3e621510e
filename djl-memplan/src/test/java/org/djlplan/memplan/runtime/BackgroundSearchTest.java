package org.djlplan.memplan.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
        CountDownLatch allStarted = new CountDownLatch(1);
        for (int i = 0; i < 3; i++) {
            BackgroundSearch unused =
                    BackgroundSearch.start(
                            search -> {
                                together.compareAndSet(false, running.getAndSet(true));
                                Uninterruptibles.awaitUninterruptibly(allStarted);
                                running.set(false);
                                threads.add(Thread.currentThread());
                            });
        }
        allStarted.countDown();
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
    void cancel_computing_interruptsAndTheNextRunsUndisturbed() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        BlockingQueue<String> events = new ArrayBlockingQueue<>(4);
        BackgroundSearch first =
                BackgroundSearch.start(
                        search -> {
                            Optional<String> found =
                                    search.interruptibly(
                                            () -> {
                                                begun.countDown();
                                                awaitQuietly(new CountDownLatch(1));
                                                return "cut short";
                                            });
                            events.add("found " + found);
                            events.add("then " + Thread.currentThread().isInterrupted());
                            events.add("again " + search.interruptibly(() -> "too late"));
                        });
        begun.await();
        BackgroundSearch next =
                BackgroundSearch.start(
                        search -> events.add("next " + search.interruptibly(() -> "found")));
        assertFalse(first.isDone());
        first.cancel();
        first.cancel();
        assertTrue(first.isDone());
        assertEquals("found Optional.empty", next(events));
        assertEquals("then false", next(events));
        assertEquals("again Optional.empty", next(events));
        assertEquals("next Optional[found]", next(events));
        next.cancel();
    }

    /** What works on files is not interrupted, and whoever cancels does not wait for it. */
    @Test
    void cancel_outsideOfComputing_neitherInterruptsNorWaits() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        BlockingQueue<String> events = new ArrayBlockingQueue<>(2);
        BackgroundSearch search =
                BackgroundSearch.start(
                        mine -> {
                            begun.countDown();
                            awaitQuietly(release);
                            events.add("interrupted " + Thread.currentThread().isInterrupted());
                        });
        begun.await();
        search.cancel();
        release.countDown();
        assertEquals("interrupted false", next(events));
    }

    @Test
    void cancel_waiting_neverRuns() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        BlockingQueue<String> events = new ArrayBlockingQueue<>(2);
        BackgroundSearch unused = BackgroundSearch.start(search -> awaitQuietly(release));
        BackgroundSearch cancelled = BackgroundSearch.start(search -> events.add("cancelled"));
        BackgroundSearch last = BackgroundSearch.start(search -> events.add("last"));
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
                        search -> {
                            throw new StackOverflowError();
                        });
        BackgroundSearch other = BackgroundSearch.start(search -> events.add("other"));
        assertEquals("other", next(events));
        other.cancel();
    }
}
