package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PredictionScopeTest {

    private final NDManager call = FakeArrays.manager(FakeArrays.manager());
    private final NDManager innerCall = FakeArrays.manager(FakeArrays.manager());

    @AfterEach
    void closeCalls() {
        innerCall.close();
        call.close();
        assertFalse(PredictionScope.isOpen());
    }

    private static void open(NDManager manager) {
        PredictionScope.open(manager, Optional.empty());
    }

    /** Runs a task on a thread without an open call. */
    private static <T> T elsewhere(Supplier<T> task) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> result.complete(task.get()));
        thread.setUncaughtExceptionHandler((t, e) -> result.completeExceptionally(e));
        thread.start();
        return result.get();
    }

    /** Returns whether another thread gets into the limit at once. */
    private static boolean free(PredictionScope.Limit limit) throws Exception {
        CompletableFuture<Void> entered = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            limit.enter();
                            entered.complete(null);
                            limit.leave();
                        });
        thread.start();
        Await.until(() -> entered.isDone() || thread.getState() == Thread.State.WAITING);
        boolean free = entered.isDone();
        if (!free) {
            // The thread must not keep waiting after this method.
            limit.leave();
            thread.join();
            limit.enter();
        }
        return free;
    }

    @Test
    void isOpen_untilTheCallsManagerIsClosed() {
        assertFalse(PredictionScope.isOpen());
        open(call);
        assertTrue(PredictionScope.isOpen());
        call.close();
        assertFalse(PredictionScope.isOpen());
    }

    @Test
    void isOpen_otherThread_onlyWithACarriedTask() throws Exception {
        open(call);
        Supplier<Boolean> carried = PredictionScope.carried(PredictionScope::isOpen);
        assertFalse(elsewhere(PredictionScope::isOpen));
        assertTrue(elsewhere(carried));
        assertTrue(elsewhere(() -> carried.get() && !PredictionScope.isOpen()));
        call.close();
        assertFalse(elsewhere(carried));
    }

    @Test
    void carried_outsideACall_isTheTaskItself() {
        Supplier<String> task = () -> "done";
        assertEquals(task, PredictionScope.carried(task));
    }

    @Test
    void carried_taskFails_theThreadsOwnCallIsBack() throws Exception {
        open(call);
        Supplier<Object> failing =
                PredictionScope.carried(
                        () -> {
                            throw new IllegalStateException("failed");
                        });
        assertFalse(
                elsewhere(
                        () -> {
                            assertThrows(IllegalStateException.class, failing::get);
                            return PredictionScope.isOpen();
                        }));
    }

    @Test
    void close_innerCall_theOuterOneIsBack() {
        open(call);
        open(innerCall);
        innerCall.close();
        assertTrue(PredictionScope.isOpen());
        call.close();
        assertFalse(PredictionScope.isOpen());
    }

    @Test
    void close_outerCallFirst_theInnerOneStays() {
        open(call);
        open(innerCall);
        call.close();
        assertTrue(PredictionScope.isOpen());
        innerCall.close();
        assertFalse(PredictionScope.isOpen());
    }

    @Test
    void open_limit_isHeldUntilTheCallEnds() throws Exception {
        PredictionScope.Limit limit = new PredictionScope.Limit(1);
        PredictionScope.open(call, Optional.of(limit));
        PredictionScope.open(call, Optional.of(limit));
        assertFalse(free(limit));
        call.close();
        assertTrue(free(limit));
        // The limit was left once, not twice, so there is no second place.
        limit.enter();
        assertFalse(free(limit));
        limit.leave();
    }

    /** Otherwise the inner call could wait for the outer call itself. */
    @Test
    void open_callInsideACall_passesTheLimit() throws Exception {
        PredictionScope.Limit limit = new PredictionScope.Limit(1);
        PredictionScope.open(call, Optional.of(limit));
        PredictionScope.open(innerCall, Optional.of(limit));
        innerCall.close();
        assertFalse(free(limit));
        call.close();
        assertTrue(free(limit));
    }

    @Test
    void open_managerIsClosedAlready_leavesTheLimit() throws Exception {
        PredictionScope.Limit limit = new PredictionScope.Limit(1);
        call.close();
        assertThrows(
                IllegalStateException.class, () -> PredictionScope.open(call, Optional.of(limit)));
        assertTrue(free(limit));
        assertFalse(PredictionScope.isOpen());
    }
}
