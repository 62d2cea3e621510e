package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.planning.AllocationPlanning;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.FakeArenas;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.store.MemoryStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AllocationSequencesTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final FakeArenas memory = new FakeArenas();
    private final ArenaPool pool = memory.pool();
    private final FakeWatch watch = new FakeWatch();
    private final TorchArenas arenas =
            new TorchArenas(
                    watch,
                    pool,
                    1,
                    TorchPrediction.Guard.handing(
                            problem -> {
                                throw new AssertionError(problem);
                            }));
    private final AllocationPlanning planning =
            new AllocationPlanning(
                    new MemoryStore<>(), new MemoryStore<>(), new StoreKey("model", Map.of()));
    private final AllocationSequences sequences =
            new AllocationSequences(
                    "model", () -> planning, arenas, new AllocationSequence.Tally());

    private static PredictionKind kind(long rows) {
        return new PredictionKind(ImmutableList.of(new ArrayType("float32", List.of(rows))), 1);
    }

    /** Records a prediction, and waits for its plan. */
    private void record(long rows) {
        watch.recorded =
                () ->
                        Optional.of(
                                new AllocationTrace(
                                        List.of(new Allocation(64 * rows, 0, OptionalInt.of(1)))));
        end(sequences.of(kind(rows)).begin(Duration.ZERO));
        sequences.planAnyway();
        Analysis.await(LONG);
    }

    private static void end(TorchPrediction prediction) {
        prediction.pause();
        prediction.finish();
    }

    @AfterEach
    void closeFreesEverything() {
        sequences.close();
        arenas.close();
        assertEquals(0, watch.livePlans.get());
        assertEquals(0, memory.liveCount());
    }

    @Test
    void ofPrediction_firstKinds_haveOneEach() {
        for (int rows = 0; rows < Recurrence.FIRST; rows++) {
            AllocationSequence made = sequences.ofPrediction(kind(rows));
            assertNotNull(made);
            assertSame(made, sequences.ofPrediction(kind(rows)));
            assertSame(made, sequences.of(kind(rows)));
        }
        assertNull(sequences.ofPrediction(kind(Recurrence.FIRST)));
    }

    @Test
    void isPassedOver_otherKindsHavePlans_isFalse() {
        for (int rows = 0; rows < 300; rows++) {
            AllocationSequence unused = sequences.ofPrediction(kind(rows));
        }
        assertTrue(sequences.isPassedOver());
        sequences.foundOther();
        assertFalse(sequences.isPassedOver());
    }

    @Test
    void of_manyKinds_closesThoseNotSeenLongest() {
        record(1);
        record(2);
        AllocationSequence first = sequences.of(kind(1));
        AllocationSequence second = sequences.of(kind(2));
        assertSame(first, sequences.of(kind(1)));
        for (int rows = 3; rows <= AllocationSequences.MOST + 1; rows++) {
            AllocationSequence unused = sequences.of(kind(rows));
        }
        assertEquals(1, watch.livePlans.get());
        assertSame(first, sequences.of(kind(1)));
        assertNotSame(second, sequences.of(kind(2)));
    }

    @Test
    void largest_severalPlans_isThatWithTheLargestArena() {
        assertEquals(Optional.empty(), sequences.largest());
        record(1);
        record(3);
        record(2);
        assertEquals(192, sequences.largest().orElseThrow().naiveBytes());
    }

    /** Blocks whose arrays are closed early ask for each new shape. */
    @Test
    void liveness_manyKinds_makesNoSequence() {
        LivenessTrace trace = new LivenessTrace(List.of());
        int sequencesMade = 0;
        for (int rows = 0; rows < 200; rows++) {
            assertEquals(Optional.empty(), sequences.liveness(kind(rows)));
            sequences.keepLiveness(kind(rows), trace);
            assertEquals(Optional.of(trace), sequences.liveness(kind(rows)));
            if (sequences.ofPrediction(kind(rows)) != null) {
                sequencesMade++;
            }
        }
        assertEquals(Recurrence.FIRST, sequencesMade);
    }

    @Test
    void liveness_ofAnEarlierKind_isKnownToItsSequence() {
        LivenessTrace trace = new LivenessTrace(List.of());
        sequences.keepLiveness(kind(1), trace);
        AllocationSequence sequence = sequences.of(kind(1));
        assertEquals(Optional.of(trace), sequence.liveness());
        record(1);
        assertTrue(sequence.figures().isPresent());
        sequences.keepLiveness(kind(1), trace);
        assertTrue(sequence.figures().isPresent(), "it is the same");
        assertEquals(Optional.of(trace), planning.of(kind(1).inputs(), 1).liveness());
    }

    /** A prediction may begin while its model is closed. */
    @Test
    void of_closed_isClosedAtOnce() {
        record(1);
        sequences.close();
        assertEquals(0, watch.livePlans.get());
        AllocationSequence late = sequences.of(kind(1));
        assertEquals(Optional.empty(), late.figures());
        end(late.begin(Duration.ZERO));
        assertEquals(1, watch.recordings.get());
    }
}
