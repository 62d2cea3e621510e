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
import java.util.OptionalLong;
import java.util.Set;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.formula.LearntShapes;
import org.djlplan.memplan.internal.planning.AllocationPlanning;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.FakeArenas;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.store.MemoryStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShapePlansTest {

    private final FakeArenas memory = new FakeArenas();
    private final ArenaPool pool = memory.pool();
    private final FakeWatch watch = new FakeWatch();
    private final MemoryStore<LearntShapes> store = new MemoryStore<>();
    private final AllocationSequence.Tally tally = new AllocationSequence.Tally();
    private final TorchArenas arenas =
            new TorchArenas(
                    watch,
                    pool,
                    4,
                    TorchPrediction.Guard.handing(
                            problem -> {
                                throw new AssertionError(problem);
                            }));
    private final List<ShapePlans> opened = new ArrayList<>();

    /** The time of the clock, and by how much it advances whenever it is read. */
    private long nanos;

    private long step;
    private ShapePlans plans = open();

    private ShapePlans open() {
        AllocationPlanning planning =
                new AllocationPlanning(new MemoryStore<>(), store, new StoreKey("model", Map.of()));
        ShapePlans opening =
                new ShapePlans(
                        () -> planning,
                        arenas,
                        work -> {
                            work.run();
                            return true;
                        },
                        tally,
                        () -> nanos += step);
        opened.add(opening);
        return opening;
    }

    private static List<ArrayType> inputs(long rows) {
        return List.of(new ArrayType("int64", List.of(rows)));
    }

    /** Returns a trace of two blocks that are in use at once. */
    private static AllocationTrace trace(long rows) {
        return new AllocationTrace(
                List.of(
                        new Allocation(640 * rows, 0, OptionalInt.of(3)),
                        new Allocation(64, 1, OptionalInt.of(2))));
    }

    private static void end(TorchPrediction prediction) {
        prediction.pause();
        prediction.finish();
    }

    private void record(long rows) {
        watch.recorded = () -> Optional.of(trace(rows));
        end(plans.beginOnline(inputs(rows), 1, Duration.ZERO).orElseThrow());
    }

    private Optional<TorchPrediction> begin(long rows) {
        return plans.begin(inputs(rows), 1, Duration.ZERO);
    }

    /** Planning takes no time. */
    private void learn() {
        record(2);
        record(3);
        record(5);
        TorchPrediction timed = begin(4).orElseThrow();
        nanos += 1000;
        end(timed);
        assertEquals(0, watch.replays.get());
    }

    @AfterEach
    void closeFreesEverything() {
        opened.forEach(ShapePlans::close);
        arenas.close();
        assertEquals(0, watch.liveRuns.get());
        assertEquals(0, watch.livePlans.get());
        assertEquals(0, memory.liveCount());
    }

    @Test
    void begin_nothingIsKnown_isLeftToOthers() {
        assertEquals(Optional.empty(), begin(2));
        record(2);
        assertEquals(Optional.empty(), begin(3));
        assertEquals(OptionalLong.empty(), plans.bytes(inputs(3), 1));
    }

    @Test
    void begin_otherShapesTell_isPlaced() {
        learn();
        end(begin(50).orElseThrow());
        end(begin(50).orElseThrow());
        assertEquals(2, watch.replays.get());
        assertEquals(2, tally.byFormula.get());
        assertEquals(3, tally.recordings.get());
        assertEquals(OptionalLong.of(640 * 50 + 64), plans.bytes(inputs(50), 1));
    }

    @Test
    void begin_planningTakesTooLong_isLeftToOthers() {
        record(2);
        record(3);
        record(5);
        step = 1000;
        end(begin(4).orElseThrow());
        assertEquals(Optional.empty(), begin(5), "as long as the prediction");
        assertEquals(0, watch.replays.get());
    }

    @Test
    void begin_othersPredict_isLeftToThem() {
        learn();
        TorchPrediction other = plans.beginOnline(inputs(7), 1, Duration.ZERO).orElseThrow();
        assertEquals(Optional.empty(), begin(50));
        end(other);
        end(begin(50).orElseThrow());
        assertEquals(1, watch.replays.get());
    }

    @Test
    void begin_allocatesOtherwise_isRecordedAndWaitsLongerEachTime() {
        learn();
        watch.outcome = FakeWatch.outcome(1, 0, 2, 0, Set.of());
        end(begin(50).orElseThrow());
        assertEquals(1, tally.unplannedPredictions.get() - 1, "with the one that was timed");
        for (int i = 0; i < 3; i++) {
            assertEquals(Optional.empty(), begin(50));
        }
        watch.recorded =
                () ->
                        Optional.of(
                                new AllocationTrace(
                                        List.of(
                                                new Allocation(7, 0, OptionalInt.of(3)),
                                                new Allocation(9, 1, OptionalInt.of(2)))));
        end(plans.beginOnline(inputs(50), 1, Duration.ZERO).orElseThrow());
        assertEquals(4, tally.recordings.get());
        assertEquals(Optional.empty(), begin(50), "no formula fits any more");
        assertEquals(Optional.empty(), begin(60));
        end(plans.beginOnline(inputs(60), 1, Duration.ZERO).orElseThrow());
        assertEquals(4, tally.recordings.get(), "recordings do not help");
    }

    @Test
    void begin_blocksStayInUse_areLeftToTheEngineFromThenOn() {
        learn();
        watch.outcome = FakeWatch.outcome(2, 0, 0, 0, Set.of(0));
        end(begin(50).orElseThrow());
        assertEquals(0, watch.livePlans.get());
        watch.outcome = FakeWatch.AS_PLANNED;
        end(begin(50).orElseThrow());
        assertEquals(64 + 640 * 50, plans.bytes(inputs(50), 1).orElseThrow());
        assertEquals(1, tally.escaped.get());
    }

    @Test
    void begin_manyShapes_keepsAFewPlans() {
        learn();
        for (int rows = 50; rows < 250; rows++) {
            end(begin(rows).orElseThrow());
        }
        assertEquals(200, watch.replays.get());
        assertTrue(watch.livePlans.get() <= 64);
    }

    @Test
    void begin_learntByAnEarlierOne_isKnown() {
        record(2);
        record(3);
        record(5);
        plans.close();
        plans = open();
        assertEquals(OptionalLong.of(640 * 9 + 64), plans.bytes(inputs(9), 1));
    }

    @Test
    void beginOnline_noMemoryForTheRecording_finishesTheRun() {
        watch.recorded =
                () -> {
                    throw new OutOfMemoryError();
                };
        TorchPrediction prediction = plans.beginOnline(inputs(2), 1, Duration.ZERO).orElseThrow();
        AssertionError handed = assertThrows(AssertionError.class, () -> end(prediction));
        assertTrue(handed.getCause() instanceof OutOfMemoryError, handed::toString);
        assertEquals(0, watch.liveRuns.get());
        assertEquals(0, pool.metric().leased());
        learn();
    }

    @Test
    void beginOnline_recordingsAreIncomplete_isRecordedLessAndLessOften() {
        watch.recorded = Optional::empty;
        for (int rows = 2; rows < 129; rows++) {
            end(plans.beginOnline(inputs(rows), 1, Duration.ZERO).orElseThrow());
        }
        assertEquals(7, watch.recordings.get());
        learn();
    }

    @Test
    void beginOnline_recordingCannotBeLearnt_isRecordedAgain() {
        record(2);
        store.beforeSave =
                () -> {
                    throw new OutOfMemoryError();
                };
        assertThrows(AssertionError.class, () -> record(3));
        store.beforeSave = () -> {};
        record(5);
        assertEquals(3, watch.recordings.get());
    }
}
