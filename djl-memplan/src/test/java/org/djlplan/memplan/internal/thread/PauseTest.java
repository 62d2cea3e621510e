package org.djlplan.memplan.internal.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;

class PauseTest {

    private static final Duration LENGTH = Duration.ofMillis(20);

    @Test
    void await_noUse_runsOnceAfterThePause() {
        AtomicInteger runs = new AtomicInteger();
        Pause pause = new Pause(LENGTH, runs::incrementAndGet);
        for (int i = 1; i <= 3; i++) {
            int wanted = i;
            pause.await();
            Await.until(() -> runs.get() == wanted);
        }
        assertEquals(3, runs.get());
    }

    @Test
    void cancel_beforeThePause_runsNothingUntilTheNextUse() {
        AtomicInteger runs = new AtomicInteger();
        Pause pause = new Pause(LENGTH, runs::incrementAndGet);
        pause.await();
        pause.cancel();
        AtomicInteger others = new AtomicInteger();
        new Pause(LENGTH.multipliedBy(2), others::incrementAndGet).await();
        Await.until(() -> others.get() == 1);
        assertEquals(0, runs.get());
        pause.await();
        Await.until(() -> runs.get() == 1);
    }

    @Test
    void await_usedJustNow_doesNotRunBeforeThePause() {
        AtomicLong ranAt = new AtomicLong();
        Pause pause = new Pause(LENGTH, () -> ranAt.set(System.nanoTime()));
        pause.await();
        long lastUse = System.nanoTime();
        pause.await();
        Await.until(() -> ranAt.get() - lastUse >= LENGTH.toNanos());
    }
}
