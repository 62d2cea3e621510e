package org.djlplan.memplan.internal.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SeatsTest {

    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Thread> started = new ArrayList<>();

    /** Returns a thread that is alive until the test ends. */
    private Thread alive() {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                end.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        });
        thread.start();
        started.add(thread);
        return thread;
    }

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        for (Thread each : started) {
            each.join();
        }
    }

    @Test
    void take_moreThreadsThanSeats_firstOnesHaveThem() {
        Seats seats = new Seats(2);
        Thread first = alive();
        Thread second = alive();
        Thread third = alive();
        assertTrue(seats.take(first));
        assertTrue(seats.take(second));
        assertFalse(seats.take(third));
        assertTrue(seats.take(first));
        assertTrue(seats.take(second));
    }

    @Test
    void take_holderHasEnded_nextThreadGetsItsSeat() throws InterruptedException {
        Seats seats = new Seats(1);
        Thread ended = new Thread(() -> {});
        ended.start();
        assertTrue(seats.take(ended));
        ended.join();
        assertTrue(seats.take(alive()));
    }

    /** The holders that called most recently keep their seats. */
    @Test
    void take_sameThreadAgainAndAgain_getsTheSeatThatWasNotUsedForLongest() {
        Seats seats = new Seats(2);
        Thread first = alive();
        Thread second = alive();
        Thread alone = alive();
        assertTrue(seats.take(second));
        assertTrue(seats.take(first));
        assertTrue(seats.take(second));
        int refused = 0;
        while (!seats.take(alone)) {
            refused++;
        }
        assertEquals(63, refused);
        assertTrue(seats.take(second));
        assertFalse(seats.take(first));
    }

    @Test
    void take_holderCallsInBetween_keepsItsSeat() {
        Seats seats = new Seats(1);
        Thread holder = alive();
        Thread other = alive();
        assertTrue(seats.take(holder));
        for (int i = 0; i < 1000; i++) {
            assertFalse(seats.take(other));
            if (i % 50 == 0) {
                assertTrue(seats.take(holder));
            }
        }
    }

    /** For example, one thread loads a model, and two others predict. */
    @Test
    void take_holderDoesNotCallAnyMore_secondCallerGetsItsSeat() {
        Seats seats = new Seats(2);
        Thread absent = alive();
        Thread first = alive();
        Thread second = alive();
        assertTrue(seats.take(absent));
        int refused = 0;
        assertTrue(seats.take(first));
        while (!seats.take(second)) {
            refused++;
            assertTrue(seats.take(first));
        }
        assertEquals(32, refused);
        assertTrue(seats.take(first));
        assertTrue(seats.take(second));
        assertFalse(seats.take(absent));
    }

    /** Each thread that ever runs a pass costs memory. */
    @Test
    void take_manyThreadsInTurn_fewEverHaveASeat() {
        Seats seats = new Seats(2);
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            callers.add(alive());
        }
        Set<Thread> seated = new HashSet<>();
        for (int turn = 0; turn < 300; turn++) {
            for (Thread each : callers) {
                if (seats.take(each)) {
                    seated.add(each);
                }
            }
        }
        assertTrue(seated.size() <= 6, () -> seated.size() + " threads");
    }

    @Test
    void exist_noSeats_isFalse() {
        assertFalse(new Seats(0).exist());
        assertTrue(new Seats(1).exist());
    }
}
