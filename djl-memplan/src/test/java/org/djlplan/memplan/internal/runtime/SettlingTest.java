package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.thread.Later;
import org.junit.jupiter.api.Test;

class SettlingTest {

    private final AtomicInteger released = new AtomicInteger();
    private final CountDownLatch releasedOnce = new CountDownLatch(1);

    private void release() {
        released.incrementAndGet();
        releasedOnce.countDown();
    }

    /** Waits until the thread for later work has done all work that was due. */
    private static void awaitLaterWork(Duration due) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        assertTrue(Later.run(due, done::countDown));
        assertTrue(done.await(10, TimeUnit.SECONDS));
    }

    @Test
    void begin_twice_releasesPagesOnce() throws Exception {
        try (Settling settling = new Settling(this::release, Duration.ofMillis(1))) {
            settling.begin();
            settling.begin();
            assertTrue(releasedOnce.await(10, TimeUnit.SECONDS));
            // Waits beyond all of its delays, which add up to 31 ms.
            awaitLaterWork(Duration.ofMillis(100));
            assertEquals(1, released.get());
        }
    }

    @Test
    void close_beforeFirstRelease_releasesNothing() throws Exception {
        Settling settling = new Settling(this::release, Duration.ofMillis(50));
        settling.begin();
        settling.close();
        settling.begin();
        awaitLaterWork(Duration.ofMillis(100));
        assertEquals(0, released.get());
    }
}
