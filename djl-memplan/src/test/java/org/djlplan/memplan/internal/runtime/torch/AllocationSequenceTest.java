package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.planning.AllocationPlanning;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.FakeArenas;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.store.BackgroundStore;
import org.djlplan.memplan.internal.store.MemoryStore;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoredPlan;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AllocationSequenceTest {

    private static final StoreKey MODEL = new StoreKey("model", Map.of());
    private static final List<ArrayType> INPUTS =
            List.of(new ArrayType("float32", List.of(1L, 3L)));
    private static final StoreKey KEY =
            new StoreKey("model", Map.of("inputs", INPUTS.toString(), "threads", "1"));

    /** Three blocks: the first two are in use at once; the last one is never freed. */
    private static final AllocationTrace TRACE =
            new AllocationTrace(
                    List.of(
                            new Allocation(1000, 0, OptionalInt.of(2)),
                            new Allocation(2000, 1, OptionalInt.of(3)),
                            new Allocation(3000, 4, OptionalInt.of(6)),
                            new Allocation(4000, 5, OptionalInt.empty())));

    private static final AllocationWatch.Outcome DIVERGED = FakeWatch.outcome(1, 0, 2, 0, Set.of());

    private final FakeArenas memory = new FakeArenas();
    private final ArenaPool pool = memory.pool();
    private final FakeWatch watch = new FakeWatch();
    private final MemoryStore<StoredPlan> store = new MemoryStore<>();
    private Store<StoredPlan> used = store;
    private final AllocationSequence.Tally tally = new AllocationSequence.Tally();
    private final TorchPrediction.Guard strict =
            TorchPrediction.Guard.handing(
                    problem -> {
                        throw new AssertionError(problem);
                    });

    /** Whether memory runs out when a prediction ends. */
    private boolean outOfMemory;

    private final TorchArenas arenas = new TorchArenas(watch, pool, 1, this::guarded);

    /** Runs background work at once, so that tests need not wait. */
    private AllocationSequence.Background background =
            work -> {
                work.run();
                return true;
            };

    private final List<AllocationSequence> opened = new ArrayList<>();

    private TorchPrediction.Ending guarded(TorchPrediction.Ending ending) {
        if (outOfMemory) {
            throw new OutOfMemoryError();
        }
        return strict.guarded(ending);
    }

    private AllocationSequence sequence() {
        watch.recorded = () -> Optional.of(TRACE);
        AllocationSequence sequence =
                new AllocationSequence(
                        "model",
                        new AllocationPlanning(used, new MemoryStore<>(), MODEL).of(INPUTS, 1),
                        arenas,
                        background,
                        tally);
        opened.add(sequence);
        return sequence;
    }

    private AllocationSequence recordedSequence() {
        AllocationSequence sequence = sequence();
        predict(sequence);
        assertTrue(sequence.figures().isPresent());
        return sequence;
    }

    private static void end(TorchPrediction prediction) {
        prediction.pause();
        prediction.finish();
    }

    private static void predict(AllocationSequence sequence) {
        end(sequence.begin(Duration.ZERO));
    }

    private static void fail(AllocationSequence sequence) {
        TorchPrediction prediction = sequence.begin(Duration.ZERO);
        prediction.fail();
        end(prediction);
    }

    private StoredPlan.Allocations stored() {
        return store.load(KEY).orElseThrow().allocations().orElseThrow();
    }

    private void assertTally(int unplanned, int recordings) {
        assertEquals(unplanned, tally.unplannedPredictions.get(), "unplanned");
        assertEquals(recordings, tally.recordings.get(), "recordings");
    }

    @AfterEach
    void closeFreesEverything() {
        opened.forEach(AllocationSequence::close);
        opened.forEach(AllocationSequence::close);
        arenas.close();
        assertEquals(0, watch.liveRuns.get());
        assertEquals(0, watch.livePlans.get());
        assertEquals(0, memory.liveCount());
        assertEquals(0, pool.metric().arenas());
    }

    @Test
    void begin_first_isRecordedAndLaterOnesArePlaced() {
        AllocationSequence sequence = sequence();
        assertEquals(Optional.empty(), sequence.figures());
        predict(sequence);
        predict(sequence);
        predict(sequence);
        assertEquals(1, watch.recordings.get());
        assertEquals(2, watch.replays.get());
        assertTally(1, 1);
        assertEquals(3, sequence.figures().orElseThrow().plan().problem().records().size());
        assertEquals(TRACE, stored().trace());
        assertEquals(1, pool.metric().arenas());
    }

    @Test
    void begin_storedByAnEarlierSequence_isPlacedAtOnce() {
        recordedSequence().close();
        predict(sequence());
        assertEquals(1, watch.recordings.get());
        assertEquals(1, watch.replays.get());
        assertTally(1, 1);
        assertEquals(1, store.saves.availablePermits());
    }

    @Test
    void begin_whileAnotherIsRecorded_isUnplanned() {
        AllocationSequence sequence = sequence();
        TorchPrediction first = sequence.begin(Duration.ZERO);
        predict(sequence);
        assertEquals(1, watch.recordings.get());
        end(first);
        predict(sequence);
        assertEquals(1, watch.replays.get());
        assertTally(2, 1);
    }

    @Test
    void begin_arenaInUse_isUnplanned() {
        AllocationSequence sequence = recordedSequence();
        TorchPrediction first = sequence.begin(Duration.ZERO);
        predict(sequence);
        end(first);
        predict(sequence);
        assertEquals(2, watch.replays.get());
        assertTally(2, 1);
    }

    @Test
    void begin_insideOfAnotherRun_isUnplannedAndTakesNoArena() {
        AllocationSequence sequence = sequence();
        watch.occupied = true;
        predict(sequence);
        watch.occupied = false;
        predict(sequence);
        watch.occupied = true;
        predict(sequence);
        assertEquals(0, pool.metric().leased());
        watch.occupied = false;
        predict(sequence);
        assertEquals(1, watch.replays.get());
        assertTally(3, 1);
    }

    @Test
    void begin_failedOrIncompleteRecording_isRecordedAgain() {
        AllocationSequence sequence = sequence();
        fail(sequence);
        watch.recorded = Optional::empty;
        predict(sequence);
        assertEquals(Optional.empty(), sequence.figures());
        watch.recorded = () -> Optional.of(TRACE);
        predict(sequence);
        predict(sequence);
        assertEquals(3, watch.recordings.get());
        assertEquals(1, watch.replays.get());
        assertTally(3, 3);
    }

    /** For example because there are more allocations than can be recorded. */
    @Test
    void begin_recordingsAreIncomplete_isRecordedLessAndLessOften() {
        AllocationSequence sequence = sequence();
        watch.recorded = Optional::empty;
        for (int i = 0; i < 127; i++) {
            predict(sequence);
        }
        assertEquals(7, watch.recordings.get());
        watch.recorded = () -> Optional.of(TRACE);
        predict(sequence);
        assertTrue(sequence.figures().isPresent());
    }

    @Test
    void finish_divergesInARow_isRecordedAgainAfterTwiceAsManyEachTime() {
        AllocationSequence sequence = recordedSequence();
        for (int patience : new int[] {3, 6, 12}) {
            watch.outcome = DIVERGED;
            for (int i = 0; i < patience; i++) {
                assertTrue(sequence.figures().isPresent(), patience + ": " + i);
                predict(sequence);
            }
            assertEquals(Optional.empty(), sequence.figures());
            watch.outcome = FakeWatch.AS_PLANNED;
            predict(sequence);
            assertTrue(sequence.figures().isPresent());
        }
        assertEquals(4, watch.recordings.get());
        assertEquals(2 * (3 + 6 + 12), tally.unplannedAllocations.get());
    }

    @Test
    void finish_divergesNowAndThenOrInFailures_keepsThePlan() {
        AllocationSequence sequence = recordedSequence();
        for (int i = 0; i < 20; i++) {
            watch.outcome = i % 3 == 2 ? FakeWatch.AS_PLANNED : DIVERGED;
            predict(sequence);
        }
        watch.outcome = FakeWatch.AS_PLANNED;
        predict(sequence);
        watch.outcome = DIVERGED;
        for (int i = 0; i < 20; i++) {
            fail(sequence);
        }
        assertTrue(sequence.figures().isPresent());
        assertEquals(1, watch.recordings.get());
    }

    @Test
    void finish_blocksStayInUse_areLeftToTheEngineFromThenOn() {
        AllocationSequence sequence = recordedSequence();
        TorchPrediction prediction = sequence.begin(Duration.ZERO);
        assertEquals(1, memory.liveCount());
        watch.outcome = FakeWatch.outcome(3, 0, 0, 0, Set.of(2));
        end(prediction);
        assertEquals(0, pool.metric().arenas(), "it belongs to who keeps the block");
        assertEquals(1, tally.escaped.get());
        assertEquals(OptionalInt.empty(), stored().trace().allocations().get(2).freedAt());
        assertEquals(2, sequence.figures().orElseThrow().plan().problem().records().size());
        watch.outcome = FakeWatch.AS_PLANNED;
        predict(sequence);
        assertEquals(1, memory.liveCount());
    }

    /**
     * With a stored plan no prediction begins without a plan, which would otherwise show that
     * inputs recur.
     */
    @Test
    void finish_blocksStayInUseAndThePlanWasStored_isPlannedAgainWithoutThem() {
        recordedSequence().close();
        background = new PlanningIfRecurring(true);
        AllocationSequence sequence = sequence();
        assertEquals(3, sequence.figures().orElseThrow().plan().problem().records().size());
        watch.outcome = FakeWatch.outcome(3, 0, 0, 0, Set.of(2));
        predict(sequence);
        Analysis.await(Duration.ofMinutes(1));
        assertEquals(2, sequence.figures().orElseThrow().plan().problem().records().size());
    }

    /** Closing a plan may return much memory. */
    @Test
    void figures_whileAFormerPlanIsClosed_areThoseOfTheNewPlan() {
        AllocationSequence sequence = recordedSequence();
        List<Integer> placed = new ArrayList<>();
        watch.whenClosed =
                () -> {
                    FutureTask<Integer> other =
                            new FutureTask<>(
                                    () ->
                                            sequence.figures()
                                                    .map(each -> each.plan().problem())
                                                    .map(problem -> problem.records().size())
                                                    .orElse(0));
                    new Thread(other).start();
                    placed.add(get(other));
                };
        watch.outcome = FakeWatch.outcome(3, 0, 0, 0, Set.of(2));
        predict(sequence);
        assertEquals(List.of(2), placed);
        watch.outcome = FakeWatch.AS_PLANNED;
        sequence.keepLiveness(new LivenessTrace(List.of()));
        assertEquals(List.of(2, 0), placed);
    }

    private static <T> T get(FutureTask<T> task) {
        try {
            return task.get(20, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void begin_whileThePlanIsMade_isPlacedOnline() {
        List<Runnable> work = new ArrayList<>();
        background = work::add;
        AllocationSequence sequence = sequence();
        predict(sequence);
        predict(sequence);
        assertEquals(2, watch.fits.get());
        assertEquals(1, watch.recordings.get());
        work.forEach(Runnable::run);
        predict(sequence);
        assertEquals(1, watch.replays.get());
        assertTally(2, 1);
    }

    /** Records the reported numbers of predictions without a plan. */
    private static final class Noting implements AllocationSequence.Background {

        private final List<Long> unplanned = new ArrayList<>();

        @Override
        public boolean offer(Runnable work) {
            return true;
        }

        @Override
        public void unplanned(long predictions) {
            unplanned.add(predictions);
        }
    }

    @Test
    void begin_withoutPlan_saysAfterHowManyPredictions() {
        Noting noting = new Noting();
        background = noting;
        AllocationSequence sequence = sequence();
        predict(sequence);
        tally.predictions.addAndGet(16);
        predict(sequence);
        assertEquals(List.of(0L, 16L), noting.unplanned);
    }

    @Test
    void finish_backgroundIsBusy_isRecordedTheNextTime() {
        AllocationSequence.Background idle = background;
        background = work -> false;
        AllocationSequence busy = sequence();
        predict(busy);
        assertEquals(Optional.empty(), busy.figures());
        predict(busy);
        assertEquals(2, watch.recordings.get());
        background = idle;
    }

    @Test
    void keepLiveness_whileThePlanIsMade_thatIsNotUsed() {
        List<Runnable> work = new ArrayList<>();
        background = work::add;
        AllocationSequence sequence = sequence();
        predict(sequence);
        sequence.keepLiveness(new LivenessTrace(List.of()));
        work.forEach(Runnable::run);
        assertEquals(Optional.empty(), sequence.figures());
    }

    @Test
    void keepLiveness_recorded_isRecordedAgainAndStored() {
        AllocationSequence sequence = recordedSequence();
        LivenessTrace liveness = new LivenessTrace(List.of());
        sequence.keepLiveness(liveness);
        assertEquals(
                new StoredPlan(Optional.of(liveness), Optional.empty()),
                store.load(KEY).orElseThrow());
        predict(sequence);
        assertEquals(Optional.of(liveness), store.load(KEY).orElseThrow().liveness());
        assertEquals(TRACE, stored().trace());
        assertEquals(Optional.of(liveness), sequence().liveness());
    }

    /** A defect of a recording must not reach the user, whose prediction succeeded. */
    @Test
    void finish_recordingCannotBeRead_isUnplannedFromThenOnWithOneWarning() {
        AllocationSequence sequence = sequence();
        watch.recorded =
                () -> {
                    throw new IllegalArgumentException("out of range");
                };
        try (LogCapture log = new LogCapture()) {
            predict(sequence);
            predict(sequence);
            predict(sequence);
            assertEquals(1, log.lines("WARN").size(), log.lines().toString());
        }
        assertEquals(0, watch.liveRuns.get());
        assertEquals(1, watch.recordings.get());
        assertTally(3, 0);
    }

    @Test
    void finish_sizesOverflow_isUnplannedFromThenOn() {
        AllocationSequence sequence = sequence();
        Allocation huge = new Allocation(Long.MAX_VALUE, 0, OptionalInt.of(1));
        watch.recorded = () -> Optional.of(new AllocationTrace(List.of(huge)));
        predict(sequence);
        predict(sequence);
        assertEquals(1, watch.recordings.get());
        assertEquals(Optional.empty(), store.load(KEY));
    }

    @Test
    void finish_planIsRefused_isUnplannedFromThenOn() {
        AllocationSequence sequence = sequence();
        watch.refuses = true;
        predict(sequence);
        predict(sequence);
        assertEquals(1, watch.recordings.get());
        assertEquals(Optional.empty(), sequence.figures());
        assertEquals(Optional.empty(), store.load(KEY));
        // If arrays are closed in another way, the sequence of allocations differs.
        watch.refuses = false;
        sequence.keepLiveness(new LivenessTrace(List.of()));
        predict(sequence);
        assertTrue(sequence.figures().isPresent());
    }

    @Test
    void finish_planWithoutEscapedAllocationsRefused_isUnplannedFromThenOn() {
        AllocationSequence sequence = recordedSequence();
        TorchPrediction prediction = sequence.begin(Duration.ZERO);
        watch.refuses = true;
        watch.outcome = FakeWatch.outcome(3, 0, 0, 0, Set.of(2));
        end(prediction);
        predict(sequence);
        assertEquals(Optional.empty(), sequence.figures());
        assertEquals(1, watch.recordings.get());
    }

    @Test
    void new_storedPlanRefused_isMadeAgain() {
        recordedSequence().close();
        watch.refuses = true;
        AllocationSequence sequence = sequence();
        watch.refuses = false;
        predict(sequence);
        assertEquals(2, watch.recordings.get());
        assertTrue(sequence.figures().isPresent());
    }

    @Test
    void close_whilePredicting_predictionsEndAndNothingIsStored() {
        AllocationSequence recording = sequence();
        TorchPrediction first = recording.begin(Duration.ZERO);
        recording.close();
        end(first);
        assertEquals(Optional.empty(), store.load(KEY));
        AllocationSequence placing = recordedSequence();
        TorchPrediction second = placing.begin(Duration.ZERO);
        placing.close();
        arenas.close();
        assertEquals(1, memory.liveCount());
        end(second);
        second.finish();
        assertEquals(0, memory.liveCount());
        predict(placing);
        assertEquals(1, watch.replays.get());
    }

    /** Files may be on a slow file system. */
    @Test
    void begin_whileAPlanIsWrittenForLong_isPlacedAlready() throws Exception {
        // Stores in the background, as for a loaded model.
        used = new BackgroundStore<>(store);
        AllocationSequence sequence = sequence();
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        store.beforeSave =
                () -> {
                    writing.countDown();
                    assertTrue(await(release));
                };
        FutureTask<Boolean> recording =
                new FutureTask<>(
                        () -> {
                            predict(sequence);
                            return true;
                        });
        new Thread(recording).start();
        assertTrue(await(writing));
        FutureTask<Boolean> placing =
                new FutureTask<>(
                        () -> {
                            predict(sequence);
                            sequence.close();
                            return true;
                        });
        new Thread(placing).start();
        assertTrue(placing.get(20, TimeUnit.SECONDS));
        release.countDown();
        assertTrue(recording.get(20, TimeUnit.SECONDS));
        assertEquals(1, watch.replays.get());
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void finish_twiceOrWithoutAPause_endsOnce() {
        AllocationSequence sequence = recordedSequence();
        TorchPrediction prediction = sequence.begin(Duration.ZERO);
        prediction.finish();
        assertEquals(1, pool.metric().leased(), "not paused yet");
        prediction.pause();
        prediction.pause();
        prediction.finish();
        prediction.finish();
        assertEquals(0, pool.metric().leased());
    }

    /** No array outlives the pass, so any caller's next pass may get the arena. */
    @Test
    void pause_nothingIsLeft_theArenaIsFreeBeforeTheCallEnds() {
        watch.endsWithPass = true;
        AllocationSequence sequence = recordedSequence();
        TorchPrediction first = sequence.begin(Duration.ZERO);
        first.pause();
        TorchPrediction second = sequence.begin(Duration.ZERO);
        second.pause();
        assertEquals(2, watch.replays.get());
        assertEquals(1, memory.liveCount());
        assertEquals(0, watch.liveRuns.get());
        first.finish();
        second.finish();
    }

    /** A prediction holds its arena as long as its outputs are open. */
    @Test
    void begin_theOnlyArenaIsInUse_waitsForItIfItMay() throws Exception {
        AllocationSequence sequence = recordedSequence();
        TorchPrediction first = sequence.begin(Duration.ZERO);
        first.pause();
        end(sequence.begin(Duration.ZERO));
        assertEquals(1, watch.replays.get());
        FutureTask<Integer> second =
                new FutureTask<>(
                        () -> {
                            end(sequence.begin(Duration.ofMinutes(1)));
                            return watch.replays.get();
                        });
        Thread thread = new Thread(second);
        thread.start();
        Await.until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        first.finish();
        assertEquals(2, second.get());
    }

    @Test
    void begin_closedWhileItWaits_isUnplanned() throws Exception {
        AllocationSequence sequence = recordedSequence();
        TorchPrediction first = sequence.begin(Duration.ZERO);
        first.pause();
        FutureTask<Integer> second =
                new FutureTask<>(
                        () -> {
                            end(sequence.begin(Duration.ofMinutes(1)));
                            return watch.replays.get();
                        });
        Thread thread = new Thread(second);
        thread.start();
        Await.until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        sequence.close();
        first.finish();
        assertEquals(1, second.get());
    }

    private void beginWithoutMemory(AllocationSequence sequence) {
        outOfMemory = true;
        assertThrows(OutOfMemoryError.class, () -> sequence.begin(Duration.ZERO));
        outOfMemory = false;
        assertEquals(0, watch.liveRuns.get());
        assertEquals(0, pool.metric().leased());
    }

    @Test
    void begin_noMemoryForTheEnding_givesTheArenaBack() {
        AllocationSequence sequence = sequence();
        beginWithoutMemory(sequence);
        predict(sequence);
        beginWithoutMemory(sequence);
        predict(sequence);
        assertEquals(2, watch.replays.get());
    }

    private void beginWithoutMemoryForTheRun(AllocationSequence sequence) {
        watch.outOfMemory = true;
        assertThrows(OutOfMemoryError.class, () -> sequence.begin(Duration.ZERO));
        watch.outOfMemory = false;
        assertEquals(0, pool.metric().leased());
    }

    @Test
    void begin_noMemoryForTheRun_givesTheArenaBack() {
        AllocationSequence sequence = sequence();
        beginWithoutMemoryForTheRun(sequence);
        predict(sequence);
        beginWithoutMemoryForTheRun(sequence);
        predict(sequence);
        assertEquals(1, watch.replays.get());
    }

    private void endWithoutMemory(TorchPrediction prediction) {
        watch.outOfMemoryAtEnd = true;
        AssertionError handed = assertThrows(AssertionError.class, () -> end(prediction));
        assertTrue(handed.getCause() instanceof OutOfMemoryError, handed::toString);
        watch.outOfMemoryAtEnd = false;
        assertEquals(0, pool.metric().leased());
    }

    @Test
    void finish_noMemoryForTheOutcome_givesTheArenaBack() {
        AllocationSequence sequence = sequence();
        endWithoutMemory(sequence.begin(Duration.ZERO));
        predict(sequence);
        endWithoutMemory(sequence.begin(Duration.ZERO));
        predict(sequence);
        assertEquals(3, watch.replays.get());
    }
}
