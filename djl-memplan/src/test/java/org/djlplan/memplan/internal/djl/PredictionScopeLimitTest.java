package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PredictionScopeLimitTest {

    private final BlockingQueue<String> entered = new LinkedBlockingQueue<>();

    private Thread enters(PredictionScope.Limit limit, String name) {
        Thread thread =
                new Thread(
                        () -> {
                            limit.enter();
                            entered.add(name + (Thread.interrupted() ? " interrupted" : ""));
                        });
        thread.start();
        return thread;
    }

    private static void awaitWaiting(Thread thread) {
        Await.until(() -> thread.getState() == Thread.State.WAITING);
    }

    @Test
    void enter_allPlacesTaken_waitsUntilOneLeaves() throws Exception {
        PredictionScope.Limit limit = new PredictionScope.Limit(2);
        limit.enter();
        limit.enter();
        Thread third = enters(limit, "third");
        awaitWaiting(third);
        assertTrue(entered.isEmpty());
        limit.leave();
        assertEquals("third", entered.take());
        third.join();
    }

    @Test
    void enter_severalWaiting_firstComeFirstServed() throws Exception {
        PredictionScope.Limit limit = new PredictionScope.Limit(1);
        limit.enter();
        for (String name : new String[] {"first", "second", "third"}) {
            awaitWaiting(enters(limit, name));
        }
        for (String name : new String[] {"first", "second", "third"}) {
            limit.leave();
            assertEquals(name, entered.take());
            assertTrue(entered.isEmpty());
        }
    }

    @Test
    void enter_interruptedWhileWaiting_keepsWaitingAndStaysInterrupted() throws Exception {
        PredictionScope.Limit limit = new PredictionScope.Limit(1);
        limit.enter();
        Thread waiting = enters(limit, "it");
        awaitWaiting(waiting);
        waiting.interrupt();
        awaitWaiting(waiting);
        assertTrue(entered.isEmpty());
        limit.leave();
        assertEquals("it interrupted", entered.take());
        assertFalse(Thread.interrupted());
    }
}
