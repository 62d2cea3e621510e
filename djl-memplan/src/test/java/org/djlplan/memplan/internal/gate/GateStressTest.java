package org.djlplan.memplan.internal.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.djlplan.memplan.report.PoolReport;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many threads at one gate: no prediction is lost, and no limit is exceeded. */
@Timeout(120)
class GateStressTest {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int PLACES = 2;

    /** So many light predictions fit. */
    private static final int LIGHT_ONES = 3;

    /** Workers that end at once when they are idle are started and lost all the time. */
    private final Gate gate = new Gate(LIGHT_ONES, Duration.ofNanos(1), LONG);

    private final Places places = gate.places(PLACES);
    private final AtomicInteger largeNow = new AtomicInteger();
    private final AtomicInteger lightNow = new AtomicInteger();

    /** A model whose predictions check that no limit is exceeded. */
    private final class FakeModel {
        private final int limit;
        private final boolean light;
        private final Places of;
        private final Lane lane;
        private final AtomicInteger now = new AtomicInteger();

        FakeModel(int limit, boolean light, Places of) {
            this.limit = limit;
            this.light = light;
            this.of = of;
            lane = gate.lane(limit, PoolReport.Cause.INTERPRETERS);
        }

        /**
         * Predicts.
         *
         * @param nested whether this is part of another prediction
         * @param inner runs within the prediction
         */
        int predict(int number, boolean nested, Random random, Runnable inner) {
            return lane.run(
                    of,
                    light ? Gate.LIGHT_BYTES : Long.MAX_VALUE,
                    () -> count(nested, random, inner, number));
        }

        private int count(boolean nested, Random random, Runnable inner, int number) {
            boolean counts = !nested && of == places;
            AtomicInteger all = light ? lightNow : largeNow;
            assertTrue(now.incrementAndGet() <= limit, "more of the model than its limit");
            if (counts) {
                int most = light ? LIGHT_ONES + PLACES : PLACES;
                assertTrue(all.incrementAndGet() <= most, "more than the gate's limit");
            }
            try {
                inner.run();
                LockSupport.parkNanos(random.nextInt(20_000));
                if (random.nextInt(50) == 0) {
                    throw new IllegalArgumentException("as it should");
                }
                return number;
            } finally {
                now.decrementAndGet();
                if (counts) {
                    all.decrementAndGet();
                }
            }
        }
    }

    private int call(List<FakeModel> models, Random random, int number) {
        FakeModel model = models.get(random.nextInt(models.size()));
        FakeModel other = models.get(random.nextInt(models.size()));
        boolean nests = random.nextInt(20) == 0 && other.limit == Lane.UNLIMITED;
        boolean interrupted = random.nextInt(20) == 0;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            Random inner = new Random(number);
            assertEquals(
                    number,
                    model.predict(
                            number,
                            false,
                            inner,
                            () -> {
                                if (nests) {
                                    int unused = other.predict(1, true, new Random(2), () -> {});
                                }
                            }));
        } catch (IllegalArgumentException e) {
            assertEquals("as it should", e.getMessage());
        }
        assertSame(interrupted, Thread.interrupted());
        return 1;
    }

    private int callOften(List<FakeModel> models, Random random, int calls) {
        int ended = 0;
        for (int number = 0; number < calls; number++) {
            ended += call(models, random, number);
        }
        return ended;
    }

    @RepeatedTest(3)
    void run_manyCallersOfSixModels_allEndAndNoLimitIsExceeded() throws Exception {
        List<FakeModel> models =
                List.of(
                        new FakeModel(Lane.UNLIMITED, false, places),
                        new FakeModel(Lane.UNLIMITED, true, places),
                        new FakeModel(1, false, places),
                        new FakeModel(2, true, places),
                        new FakeModel(1, false, gate.ownPlace()),
                        new FakeModel(1, false, Places.NONE));
        int calls = 250;
        int all = 0;
        int ended = 0;
        // Pools come and go, and with them the holders of seats.
        for (int callers : new int[] {64, 2, 32, 1, 16}) {
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                int seed = i;
                tasks.add(() -> callOften(models, new Random(seed), calls));
            }
            ExecutorService pool = Executors.newFixedThreadPool(callers);
            for (Future<Integer> each : pool.invokeAll(tasks, 100, TimeUnit.SECONDS)) {
                ended += each.get();
            }
            pool.shutdown();
            all += callers * calls;
        }
        assertEquals(all, ended);
        assertEquals(new Gate.Metric(0, 0), gate.metric());
        assertEquals(0, largeNow.get() + lightNow.get());
    }

    /**
     * Callers of a large model, one caller of another large one, and callers of a light one. While
     * the one caller waits, at most two predictions of the other large model begin: one that had
     * the place already, and one whose turn it is.
     */
    @Test
    void run_manyCallersOfAnotherModel_oneCallerWaitsForOneTurn() throws Exception {
        AtomicInteger meanwhile = new AtomicInteger();
        AtomicInteger worst = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        // With one worker, predictions run in the order in which the gate lets them pass.
        Places one = gate.ownPlace();
        Lane a = gate.lane();
        Lane b = gate.lane();
        Lane light = gate.lane();
        Supplier<Integer> ofA =
                () -> {
                    int now = b.waiting.isEmpty() ? 0 : meanwhile.incrementAndGet();
                    LockSupport.parkNanos(50_000);
                    return worst.accumulateAndGet(now, Math::max);
                };
        ExecutorService pool = Executors.newCachedThreadPool();
        List<Future<?>> callers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            callers.add(pool.submit(() -> repeat(over, () -> a.run(one, Long.MAX_VALUE, ofA))));
        }
        for (int i = 0; i < 8; i++) {
            callers.add(pool.submit(() -> repeat(over, () -> light.run(one, 1, () -> 1))));
        }
        for (int i = 0; i < 300; i++) {
            b.run(one, Long.MAX_VALUE, () -> meanwhile.getAndSet(0));
        }
        over.set(true);
        for (Future<?> each : callers) {
            each.get();
        }
        pool.shutdown();
        assertEquals(new Gate.Metric(0, 0), gate.metric());
        assertTrue(worst.get() > 0 && worst.get() <= 2, worst + " predictions came first");
    }

    private static void repeat(AtomicBoolean over, Runnable prediction) {
        while (!over.get()) {
            prediction.run();
            LockSupport.parkNanos(50_000);
        }
    }
}
