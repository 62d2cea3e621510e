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

    private Settling afterLoad(int firstMillis) {
        return Settling.afterLoad(released::incrementAndGet, Duration.ofMillis(firstMillis));
    }

    /** Waits beyond all delays of a settling whose first one is 1 ms; they end after 31 ms. */
    private static void awaitLaterWork() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Later.run(Duration.ofMillis(100), done::countDown);
        assertTrue(done.await(10, TimeUnit.SECONDS));
    }

    @Test
    void afterLoadAndFirstPrediction_releasesPagesOnceEach() throws Exception {
        try (Settling settling = afterLoad(1)) {
            awaitLaterWork();
            assertEquals(1, released.get());
            settling.afterPrediction();
            settling.afterPrediction();
            awaitLaterWork();
            assertEquals(2, released.get());
        }
    }

    @Test
    void close_beforeFirstRelease_releasesNothing() throws Exception {
        Settling settling = afterLoad(50);
        settling.close();
        settling.afterPrediction();
        awaitLaterWork();
        assertEquals(0, released.get());
    }
}
