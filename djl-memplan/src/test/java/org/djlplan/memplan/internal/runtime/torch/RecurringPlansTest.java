package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.FakeArenas;
import org.djlplan.memplan.internal.runtime.InputSizes;
import org.djlplan.memplan.internal.runtime.PredictionTally;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RecurringPlansTest {

    private static final long MEBI = 1 << 20;
    private static final PredictionKind KIND = kind(3);
    private static final AllocationWatch.Outcome WASTEFUL = FakeWatch.outcome(50 * MEBI, 30 * MEBI);

    /** The first two blocks are in use at once; the last one is never freed. */
    private static final AllocationTrace TRACE =
            new AllocationTrace(
                    List.of(
                            new Allocation(10 * MEBI, 0, OptionalInt.of(2)),
                            new Allocation(20 * MEBI, 1, OptionalInt.of(3)),
                            new Allocation(30 * MEBI, 4, OptionalInt.of(6)),
                            new Allocation(MEBI, 5, OptionalInt.empty())));

    private final FakeWatch watch = new FakeWatch();
    private final PredictionTally tally = new PredictionTally();
    private final TorchArenas arenas =
            new TorchArenas(
                    watch,
                    new FakeArenas().pool(),
                    false,
                    TorchPrediction.Guard.handing(
                            problem -> {
                                throw new AssertionError(problem);
                            }));
    private final RecurringPlans plans =
            new RecurringPlans(
                    "model", trace -> MemoryPlanner.plan(trace.problem()), arenas, tally);

    RecurringPlansTest() {
        watch.recorded = () -> Optional.of(TRACE);
        watch.online = WASTEFUL;
    }

    private static PredictionKind kind(long length) {
        return new PredictionKind(
                ImmutableList.of(new ArrayType("float32", List.of(1L, length))), 1);
    }

    private void predict(PredictionKind kind) {
        end(plans.begin(kind, InputSizes.UNKNOWN).orElseThrow());
    }

    private static void end(TorchPrediction prediction) {
        prediction.pause();
        prediction.finish();
    }

    /** Plans are made by the thread of {@link Later}, in order. */
    private static void awaitPlanning() {
        CountDownLatch done = new CountDownLatch(1);
        assertTrue(Later.run(Duration.ZERO, done::countDown));
        Await.until(() -> done.getCount() == 0);
    }

    private void predictUntilPlanned() {
        for (int i = 0; i < 3; i++) {
            predict(KIND);
        }
        awaitPlanning();
        assertEquals(1, watch.livePlans.get());
    }

    @AfterEach
    void close_freesEverything() {
        plans.close();
        arenas.close();
        assertEquals(0, watch.liveRuns.get());
        assertEquals(0, watch.livePlans.get());
    }

    @Test
    void begin_wastefulKindRecurs_isRecordedOnceAndFollowsThePlan() {
        predictUntilPlanned();
        predict(KIND);
        predict(KIND);
        predict(kind(4));
        assertEquals(1, watch.recordings.get());
        assertEquals(2, watch.replays.get());
        assertEquals(6, tally.predictions().total());
        assertEquals(4, tally.predictions().online());
        assertEquals(0, tally.predictions().unplanned());
        assertEquals(1, tally.predictions().recorded());
    }

    @Test
    void begin_littleWaste_isNeverRecorded() {
        watch.online = FakeWatch.outcome(103 * MEBI, 100 * MEBI);
        for (int i = 0; i < 9; i++) {
            predict(KIND);
        }
        watch.online = FakeWatch.outcome(4 * MEBI, MEBI);
        for (int i = 0; i < 9; i++) {
            predict(KIND);
        }
        assertEquals(0, watch.recordings.get());
    }

    @Test
    void begin_planIsNotSmaller_isRecordedOnceAndStaysOnline() {
        watch.online = FakeWatch.outcome(31 * MEBI, 20 * MEBI);
        for (int i = 0; i < 3; i++) {
            predict(KIND);
        }
        awaitPlanning();
        for (int i = 0; i < 9; i++) {
            predict(KIND);
        }
        assertEquals(1, watch.recordings.get());
        assertEquals(0, watch.replays.get());
    }

    @Test
    void begin_incompleteRecording_isRecordedOnce() {
        watch.recorded = Optional::empty;
        for (int i = 0; i < 9; i++) {
            predict(KIND);
        }
        assertEquals(1, watch.recordings.get());
    }

    @Test
    void begin_severalDiverge_isOnlineFromThenOn() {
        predictUntilPlanned();
        watch.placed = FakeWatch.diverged();
        for (int i = 0; i < 9; i++) {
            predict(KIND);
        }
        assertEquals(3, watch.replays.get());
        assertEquals(0, watch.livePlans.get());
        assertEquals(1, watch.recordings.get());
    }

    @Test
    void begin_failedPredictionsInBetween_keepThePlan() {
        predictUntilPlanned();
        watch.placed = FakeWatch.diverged();
        for (int i = 0; i < 9; i++) {
            TorchPrediction failing = plans.begin(KIND, InputSizes.UNKNOWN).orElseThrow();
            failing.fail();
            end(failing);
        }
        assertEquals(9, watch.replays.get());
    }

    @Test
    void begin_allocationOutlivesItsPrediction_isLeftOutOfTheNextPlan() {
        predictUntilPlanned();
        long before = tally.predictions().escaped();
        watch.placed = FakeWatch.escaped(2);
        predict(KIND);
        watch.placed = FakeWatch.outcome(0, 0);
        assertEquals(before + 1, tally.predictions().escaped());
        awaitPlanning();
        predict(KIND);
        assertEquals(2, watch.replays.get());
        assertEquals(1, watch.livePlans.get());
    }

    @Test
    void begin_whileAnotherRuns_isOnline() {
        predictUntilPlanned();
        TorchPrediction first = plans.begin(KIND, InputSizes.UNKNOWN).orElseThrow();
        predict(KIND);
        assertEquals(1, watch.replays.get());
        end(first);
    }

    @Test
    void begin_manyKinds_dropsThePlanOfTheLeastRecentOne() {
        predictUntilPlanned();
        for (int i = 0; i < 70; i++) {
            predict(kind(100 + i));
        }
        assertEquals(0, watch.livePlans.get());
    }

    @Test
    void close_predictionRuns_endsAfterwards() {
        predictUntilPlanned();
        TorchPrediction running = plans.begin(KIND, InputSizes.UNKNOWN).orElseThrow();
        plans.close();
        end(running);
        predict(KIND);
        assertEquals(1, watch.replays.get());
    }
}
