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
class PredictionScopeGateTest {

    private final BlockingQueue<String> entered = new LinkedBlockingQueue<>();

    private Thread enters(PredictionScope.Gate gate, String name) {
        Thread thread =
                new Thread(
                        () -> {
                            gate.enter();
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
        PredictionScope.Gate gate = new PredictionScope.Gate(2);
        gate.enter();
        gate.enter();
        Thread third = enters(gate, "third");
        awaitWaiting(third);
        assertTrue(entered.isEmpty());
        gate.leave();
        assertEquals("third", entered.take());
        third.join();
    }

    @Test
    void enter_severalWaiting_firstComeFirstServed() throws Exception {
        PredictionScope.Gate gate = new PredictionScope.Gate(1);
        gate.enter();
        for (String name : new String[] {"first", "second", "third"}) {
            awaitWaiting(enters(gate, name));
        }
        for (String name : new String[] {"first", "second", "third"}) {
            gate.leave();
            assertEquals(name, entered.take());
            assertTrue(entered.isEmpty());
        }
    }

    @Test
    void enter_interruptedWhileWaiting_keepsWaitingAndStaysInterrupted() throws Exception {
        PredictionScope.Gate gate = new PredictionScope.Gate(1);
        gate.enter();
        Thread waiting = enters(gate, "it");
        awaitWaiting(waiting);
        waiting.interrupt();
        awaitWaiting(waiting);
        assertTrue(entered.isEmpty());
        gate.leave();
        assertEquals("it interrupted", entered.take());
        assertFalse(Thread.interrupted());
    }
}
