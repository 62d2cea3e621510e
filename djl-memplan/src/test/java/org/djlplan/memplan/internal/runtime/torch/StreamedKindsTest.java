package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamedKindsTest {

    private static final WeightTrace TRACE = WeightTraces.of(1, 2, 1);
    private static final StoreKey MODEL = new StoreKey("model", Map.of("code", "1"));

    @TempDir private Path folder;
    private FolderStore<WeightTrace> store;
    private final StreamedKinds kinds = new StreamedKinds(TRACE.pieces());

    @BeforeEach
    void makeStore() {
        store = FolderStore.at(StreamedKinds.FORMAT, folder, folder);
    }

    private static PredictionKind kind(long rows, int threads) {
        return new PredictionKind(
                ImmutableList.of(new ArrayType("float32", List.of(rows))), threads);
    }

    @Test
    void of_sameInputsAndThreads_isTheSame() {
        StreamedKind kind = kinds.of(kind(1, 1));
        assertSame(kind, kinds.of(kind(1, 1)));
        assertNotSame(kind, kinds.of(kind(2, 1)));
        assertNotSame(kind, kinds.of(kind(1, 2)));
    }

    @Test
    void of_recordedByAnEarlierOne_isKnown() {
        kinds.keep(store, MODEL);
        kinds.save(kinds.of(kind(1, 1)), TRACE);
        StreamedKinds later = new StreamedKinds(TRACE.pieces());
        later.keep(store, MODEL);
        assertEquals(Optional.of(TRACE), later.of(kind(1, 1)).trace());
        assertFalse(later.of(kind(1, 2)).isKnown());
    }

    @Test
    void of_recordingHasOtherPieces_isNotKnown() {
        kinds.keep(store, MODEL);
        kinds.save(kinds.of(kind(1, 1)), WeightTraces.of(1, 2));
        StreamedKinds later = new StreamedKinds(TRACE.pieces());
        later.keep(store, MODEL);
        assertFalse(later.of(kind(1, 1)).isKnown());
    }

    @Test
    void of_manyKinds_forgetsThoseNotSeenLongest() {
        StreamedKind first = kinds.of(kind(0, 1));
        first.learn(TRACE);
        for (int rows = 1; rows <= StreamedKinds.MOST; rows++) {
            assertFalse(kinds.of(kind(rows, 1)).isKnown());
        }
        assertFalse(first.isKnown());
        assertNotSame(first, kinds.of(kind(0, 1)));
    }

    @Test
    void close_forgetsAll() {
        StreamedKind kind = kinds.of(kind(1, 1));
        kind.learn(TRACE);
        assertTrue(kind.isKnown());
        assertEquals(2 * WeightTraces.PIECE_BYTES, kind.leastWindowBytes());
        kinds.close();
        assertFalse(kind.isKnown());
        assertEquals(0, kind.leastWindowBytes());
    }
}
