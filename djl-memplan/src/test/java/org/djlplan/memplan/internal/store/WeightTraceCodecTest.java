package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeightTraceCodecTest {

    private static final StoreKey KEY = new StoreKey("model.pt", Map.of("threads", "1"));
    private static final WeightTrace TRACE =
            new WeightTrace(
                    List.of(new WeightTrace.Piece(0, 8192), new WeightTrace.Piece(8192, 4096)),
                    ImmutableLongArray.of(0, 777, 0),
                    ImmutableLongArray.of(5, 6, 1234),
                    List.of(new WeightUse(0, 0, 1, 8192), new WeightUse(1, 1, 2, 4096)),
                    List.of(new WeightTrace.Lookup(new WeightTrace.Range(0, 1), 2, 2, 12_000)));

    @TempDir private Path folder;

    private FolderStore<WeightTrace> store() {
        return FolderStore.at(new WeightTraceCodec(), folder, folder.resolve("cache"));
    }

    @Test
    void load_saved_isEqual() {
        store().save(KEY, TRACE);
        assertEquals(Optional.of(TRACE), store().load(KEY));
    }

    @ParameterizedTest
    @CsvSource({"777,778", "4096,4095", "sha256,sha257", "'[0,1]','[0,2]'"})
    void load_changed_isRefused(String from, String to) throws IOException {
        store().save(KEY, TRACE);
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            Path file = files.findFirst().orElseThrow();
            String text = Files.readString(file);
            assertTrue(text.contains(from), text);
            Files.writeString(file, text.replace(from, to));
        }
        try (LogCapture log = new LogCapture()) {
            assertEquals(Optional.empty(), store().load(KEY));
            assertEquals(1, log.lines("WARN").size());
        }
    }
}
