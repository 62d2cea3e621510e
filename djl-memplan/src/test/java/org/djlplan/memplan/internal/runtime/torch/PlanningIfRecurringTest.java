package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PlanningIfRecurringTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final AtomicInteger done = new AtomicInteger();
    private final PlanningIfRecurring planning = new PlanningIfRecurring(false);

    private void runAllThatIsOffered() throws InterruptedException {
        CountDownLatch last = new CountDownLatch(1);
        assertTrue(Analysis.offerAtOnce(last::countDown));
        assertTrue(last.await(LONG.toSeconds(), TimeUnit.SECONDS));
    }

    @Test
    void offer_notRecurred_isNotDone() throws Exception {
        assertTrue(planning.offer(() -> done.addAndGet(100)));
        runAllThatIsOffered();
        assertEquals(0, done.get());
        planning.close();
    }

    @Test
    void recurred_workIsDeferred_isDoneOnce() {
        assertTrue(planning.offer(() -> done.addAndGet(100)));
        planning.recurred();
        planning.recurred();
        Analysis.await(LONG);
        assertEquals(100, done.get());
    }

    @Test
    void offer_afterRecurring_isDone() {
        planning.recurred();
        assertTrue(planning.offer(() -> done.addAndGet(100)));
        Analysis.await(LONG);
        assertEquals(100, done.get());
    }

    /** Returns whether planning begins after this number of predictions without a plan. */
    private boolean isPlanned(int predictions, int othersBetween) {
        PlanningIfRecurring other = new PlanningIfRecurring(false);
        int before = done.get();
        assertTrue(other.offer(() -> done.addAndGet(1)));
        for (int i = 0; i < predictions; i++) {
            other.unplanned(1 + i * (1L + othersBetween));
        }
        Analysis.await(LONG);
        other.close();
        return done.get() > before;
    }

    @Test
    void unplanned_againSoon_isDone() {
        assertFalse(isPlanned(1, 0));
        assertTrue(isPlanned(2, 0));
        assertTrue(isPlanned(2, 15));
    }

    @Test
    void unplanned_againMuchLater_isDoneIfThatIsOften() {
        assertFalse(isPlanned(63, 16));
        assertTrue(isPlanned(64, 16));
    }

    /** Commands and warming up wait for all plans. */
    @Test
    void offerDeferred_workIsDeferred_isDoneOnce() {
        assertTrue(planning.offer(() -> done.addAndGet(100)));
        Analysis.await(LONG);
        assertEquals(0, done.get(), "closing another model only waits");
        Analysis.offerDeferred();
        Analysis.await(LONG);
        planning.recurred();
        Analysis.await(LONG);
        assertEquals(100, done.get());
    }

    @Test
    void close_workIsDeferred_isNeverDone() {
        assertTrue(planning.offer(() -> done.addAndGet(100)));
        planning.close();
        planning.recurred();
        Analysis.offerDeferred();
        Analysis.await(LONG);
        assertEquals(0, done.get());
    }

    /**
     * A prediction may end after its model is closed; planning would then keep the model in memory.
     */
    @Test
    void offer_closed_isRefused() {
        planning.close();
        assertFalse(planning.offer(() -> done.addAndGet(100)));
        Analysis.offerDeferred();
        Analysis.await(LONG);
        assertEquals(0, done.get());
    }

    /**
     * The first kind of inputs, which is the only one of most models, does not wait for a pause.
     */
    @Test
    void recurred_isUrgent_isDoneInThePauseAfterOtherWork() throws Exception {
        for (boolean recursFirst : new boolean[] {false, true}) {
            CountDownLatch before = new CountDownLatch(1);
            assertTrue(Analysis.offerAtOnce(() -> workAndPause(before)));
            assertTrue(before.await(LONG.toSeconds(), TimeUnit.SECONDS));
            PlanningIfRecurring urgent = new PlanningIfRecurring(true);
            CountDownLatch ran = new CountDownLatch(1);
            if (recursFirst) {
                urgent.recurred();
            }
            assertTrue(urgent.offer(ran::countDown));
            urgent.recurred();
            assertTrue(ran.await(4, TimeUnit.SECONDS));
        }
    }

    /** Works so long that the pause afterwards is almost five seconds. */
    private static void workAndPause(CountDownLatch done) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(100)) {
            Thread.onSpinWait();
        }
        done.countDown();
    }
}
