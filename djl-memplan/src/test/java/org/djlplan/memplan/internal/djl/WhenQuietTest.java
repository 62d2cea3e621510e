package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;

class WhenQuietTest {

    @Test
    void request_manyInARow_runsOnce() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        WhenQuiet quiet = new WhenQuiet(Duration.ofMillis(300), runs::incrementAndGet);
        for (int i = 0; i < 5; i++) {
            quiet.request();
        }
        Await.until(() -> runs.get() > 0);
        CountDownLatch later = new CountDownLatch(1);
        assertTrue(Later.run(Duration.ofMillis(400), later::countDown));
        later.await();
        assertEquals(1, runs.get());
    }

    @Test
    void request_afterARun_runsAgainOnADaemonThread() throws Exception {
        SynchronousQueue<Thread> threads = new SynchronousQueue<>();
        WhenQuiet quiet =
                new WhenQuiet(
                        Duration.ofMillis(1),
                        () -> {
                            try {
                                threads.put(Thread.currentThread());
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        });
        for (int i = 0; i < 2; i++) {
            quiet.request();
            Thread thread = threads.poll(1, TimeUnit.MINUTES);
            assertTrue(thread.isDaemon());
            thread.join();
        }
    }
}
