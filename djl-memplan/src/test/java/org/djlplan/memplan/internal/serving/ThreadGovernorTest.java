package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the choice of threads for predictions on a simulated machine. Its time advances only during
 * predictions or on request.
 */
@Timeout(60)
class ThreadGovernorTest {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    /** Time of a prediction with one thread on a quiet machine. */
    private static final double MILLIS = 6;

    private long now;
    private int cores = 2;

    private Processors processors;

    private Processors processors() {
        if (processors == null) {
            processors = new Processors(cores, () -> now, Duration.ofMinutes(1));
        }
        return processors;
    }

    private static Candidate candidate(int threads) {
        return new Candidate(ImmutableSortedSet.of(0), threads);
    }

    /** Returns a governor for these numbers of threads, the largest first. */
    private ThreadGovernor governor(int... threads) {
        List<Candidate> all = IntStream.of(threads).mapToObj(t -> candidate(t)).toList();
        return new ThreadGovernor(
                new DelegationChoice(
                        all.get(0),
                        all.subList(1, all.size()),
                        Origin.MEASURED,
                        "a test",
                        List.of()),
                processors());
    }

    private static long nanos(int threads) {
        return (long) (MILLIS * MILLI / (1 + 0.6 * (threads - 1)));
    }

    /** Returns the threads of a prediction that takes its usual time on a quiet machine. */
    private int predict(ThreadGovernor governor) throws InterruptedException {
        ThreadGovernor.Gear gear = governor.begin();
        int threads = gear.candidate().threads();
        end(governor, gear, nanos(threads));
        return threads;
    }

    private void end(ThreadGovernor governor, ThreadGovernor.Gear gear, long nanos) {
        now += nanos;
        governor.end(gear, nanos, true);
    }

    /** Predicts for some time, and returns the threads of the last prediction. */
    private int predictFor(ThreadGovernor governor, long nanos) throws InterruptedException {
        int threads = 0;
        for (long end = now + nanos; now < end; ) {
            threads = predict(governor);
        }
        return threads;
    }

    private ThreadGovernor atTwo() throws InterruptedException {
        ThreadGovernor governor = governor(2, 1);
        assertEquals(2, predictFor(governor, 2 * SECOND));
        return governor;
    }

    /** Returns a prediction of another thread, which waits to begin or has begun. */
    private static FutureTask<ThreadGovernor.Gear> begin(ThreadGovernor governor) {
        FutureTask<ThreadGovernor.Gear> task = new FutureTask<>(governor::begin);
        Thread thread = new Thread(task);
        thread.start();
        Await.until(() -> task.isDone() || thread.getState() == Thread.State.TIMED_WAITING);
        return task;
    }

    @Test
    void begin_quietForASecond_takesMoreThreadsFromThenOn() throws Exception {
        ThreadGovernor governor = governor(2, 1);
        while (now < SECOND) {
            assertEquals(1, predict(governor));
        }
        assertEquals(2, predictFor(governor, SECOND / 2));
        assertEquals(candidate(2), governor.serving());
        assertEquals(2, predictFor(governor, 60 * SECOND));
    }

    /** Rare predictions get the most threads as soon as it is known that the machine is quiet. */
    @Test
    void begin_seldom_takesMoreThreads() throws Exception {
        ThreadGovernor governor = governor(2, 1);
        for (int i = 0; i < 4; i++) {
            predict(governor);
            now += 5 * SECOND;
        }
        assertEquals(2, predict(governor));
    }

    /**
     * The first prediction is alone when it begins and takes two threads, so the second waits for
     * it.
     */
    @Test
    void begin_whileOneOfTwoThreadsRuns_waitsAndTakesOne() throws Exception {
        ThreadGovernor governor = atTwo();
        ThreadGovernor.Gear first = governor.begin();
        assertEquals(2, first.candidate().threads());
        FutureTask<ThreadGovernor.Gear> second = begin(governor);
        FutureTask<ThreadGovernor.Gear> third = begin(governor);
        assertFalse(second.isDone() || third.isDone());
        end(governor, first, nanos(2));
        assertEquals(1, second.get(30, TimeUnit.SECONDS).candidate().threads());
        assertEquals(1, third.get(30, TimeUnit.SECONDS).candidate().threads());
        end(governor, second.get(), nanos(1));
        end(governor, third.get(), nanos(1));
        for (long end = now + SECOND - 20 * MILLI; now < end; ) {
            assertEquals(1, predict(governor), "too soon after an overlap");
        }
        assertEquals(2, predictFor(governor, SECOND / 2));
    }

    @Test
    void begin_whileAnotherModelPredicts_takesOneThread() throws Exception {
        ThreadGovernor governor = atTwo();
        ThreadGovernor other =
                new ThreadGovernor(
                        new DelegationChoice(Candidate.cpu(-1), Origin.UNVERIFIED, "a test"),
                        processors());
        ThreadGovernor.Gear slow = other.begin();
        assertEquals(1, predict(governor));
        other.end(slow, SECOND, true);
        assertEquals(1, predict(governor));
        assertEquals(2, predictFor(governor, 2 * SECOND));
    }

    @Test
    void begin_overlapsAgainAndAgain_triesMoreThreadsLessAndLess() throws Exception {
        ThreadGovernor governor = atTwo();
        ThreadGovernor other = governor(1);
        int climbs = 0;
        for (long end = now + 300 * SECOND; now < end; ) {
            if (predict(governor) == 2) {
                climbs++;
                ThreadGovernor.Gear gear = other.begin();
                assertEquals(1, predict(governor));
                other.end(gear, nanos(1), true);
            }
        }
        assertTrue(climbs > 5 && climbs < 20, climbs + " times");
    }

    @Test
    void begin_fourCores_asManyThreadsAsThePassesAtOnceLeave() throws Exception {
        cores = 4;
        ThreadGovernor governor = governor(4, 2, 1);
        assertEquals(4, predictFor(governor, 3 * SECOND));
        ThreadGovernor other = governor(1);
        ThreadGovernor.Gear one = other.begin();
        assertEquals(2, predict(governor));
        ThreadGovernor.Gear two = other.begin();
        assertEquals(1, predict(governor));
        other.end(two, 0, false);
        assertEquals(1, predict(governor), "there were three just now");
        assertEquals(2, predictFor(governor, 2 * SECOND), "there are two");
        other.end(one, 0, false);
        assertEquals(4, predictFor(governor, 2 * SECOND));
    }

    @Test
    void begin_oneCore_neverTakesTwoThreads() throws Exception {
        cores = 1;
        assertEquals(1, predictFor(governor(2, 1), 5 * SECOND));
    }

    /** Latencies show the load of other programs. */
    @Test
    void end_muchLater_takesOneThreadAtOnceAndTriesLessAndLess() throws Exception {
        ThreadGovernor governor = atTwo();
        List<Long> tries = new ArrayList<>();
        for (long end = now + 120 * SECOND; now < end; ) {
            ThreadGovernor.Gear gear = governor.begin();
            int threads = gear.candidate().threads();
            if (threads == 2) {
                tries.add(now);
            }
            end(governor, gear, threads == 2 ? 235 * MILLI : nanos(1));
        }
        assertTrue(tries.size() >= 4 && tries.size() <= 9, tries.toString());
        assertTrue(tries.get(1) - tries.get(0) >= SECOND, "two in a row");
        assertTrue(now - tries.get(tries.size() - 1) <= 31 * SECOND, "never tried again");
    }

    /** The number that was faster on a quiet machine need not be faster here. */
    @Test
    void end_aLittleSlowerThanWithOneThread_comesBackToOne() throws Exception {
        ThreadGovernor governor = governor(2, 1);
        int two = 0;
        for (int i = 0; i < 10_000; i++) {
            ThreadGovernor.Gear gear = governor.begin();
            int threads = gear.candidate().threads();
            two += threads == 2 ? 1 : 0;
            end(governor, gear, threads == 2 ? nanos(1) + MILLI : nanos(1));
        }
        assertTrue(two > 0 && two < 500, two + " of 10000");
    }

    /** A timer or a garbage collection may cause this now and then. */
    @Test
    void end_onceLaterAndThenAsUsual_keepsTwoThreads() throws Exception {
        ThreadGovernor governor = atTwo();
        for (int i = 0; i < 1000; i++) {
            ThreadGovernor.Gear gear = governor.begin();
            assertEquals(2, gear.candidate().threads());
            end(governor, gear, i % 50 == 0 ? 20 * MILLI : nanos(2));
        }
    }

    /** Times of failed predictions, and of other shapes, do not count. */
    @Test
    void end_notAsUsual_countsForNothing() throws Exception {
        ThreadGovernor governor = atTwo();
        for (int i = 0; i < 20; i++) {
            ThreadGovernor.Gear gear = governor.begin();
            assertEquals(2, gear.candidate().threads());
            now += SECOND;
            governor.end(gear, SECOND, false);
        }
    }

    @Test
    void begin_numberOfTheUser_neverChanges() throws Exception {
        ThreadGovernor governor = governor(2);
        for (int i = 0; i < 500; i++) {
            ThreadGovernor.Gear gear = governor.begin();
            assertEquals(candidate(2), gear.candidate());
            end(governor, gear, i % 2 == 0 ? SECOND : MILLI);
        }
    }

    /**
     * The user's number of threads stays, but predictions whose threads would wait long for each
     * other take turns.
     */
    @Test
    void begin_numberOfTheUserOfWhichTwoDoNotFit_takesTurns() throws Exception {
        ThreadGovernor governor = governor(2);
        ThreadGovernor.Gear first = governor.begin();
        FutureTask<ThreadGovernor.Gear> second = begin(governor);
        FutureTask<ThreadGovernor.Gear> third = begin(governor);
        assertFalse(second.isDone() || third.isDone());
        governor.end(first, MILLI, true);
        assertSame(first, second.get(30, TimeUnit.SECONDS), "first come, first served");
        assertFalse(third.isDone());
        governor.end(first, MILLI, true);
        assertSame(first, third.get(30, TimeUnit.SECONDS));
        governor.end(first, MILLI, true);
    }

    /** The CPU kernels' threads do not wait for each other that long. */
    @Test
    void begin_cpuKernelsOfTwoThreads_runAtOnceAsBefore() throws Exception {
        ThreadGovernor governor =
                new ThreadGovernor(
                        new DelegationChoice(Candidate.cpu(2), Origin.UNVERIFIED, "a test"),
                        processors());
        ThreadGovernor.Gear first = governor.begin();
        ThreadGovernor.Gear second = governor.begin();
        governor.end(first, MILLI, true);
        governor.end(second, MILLI, true);
    }
}
