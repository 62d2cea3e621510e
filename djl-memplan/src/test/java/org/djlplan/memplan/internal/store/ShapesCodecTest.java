package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.formula.LearntShapes;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShapesCodecTest {

    private static final StoreKey KEY = new StoreKey("model", Map.of("types", "int64:2"));

    @TempDir private Path folder;

    private Store<LearntShapes> store() {
        return FolderStore.at(new ShapesCodec(), folder, folder.resolve("cache"));
    }

    /** Returns learnt shapes as large as an encoder's. */
    private static LearntShapes learnt() {
        LearntShapes learnt = LearntShapes.NONE;
        for (long rows = 2; rows < 6; rows++) {
            List<Allocation> allocations = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                allocations.add(
                        new Allocation(
                                (i % 9) * 64L * rows,
                                2 * i,
                                i == 150 ? OptionalInt.empty() : OptionalInt.of(2 * i + 3)));
            }
            learnt =
                    learnt.with(
                            ImmutableLongArray.of(rows, 10 + rows * rows),
                            new AllocationTrace(allocations));
        }
        return learnt;
    }

    private Path file() throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }

    @Test
    void load_saved_predictsTheSame() throws Exception {
        store().save(KEY, learnt());
        ImmutableLongArray shape = ImmutableLongArray.of(8, 74);
        LearntShapes loaded = store().load(KEY).orElseThrow();
        assertEquals(
                learnt().guess(shape).orElseThrow().trace(),
                loaded.guess(shape).orElseThrow().trace());
        assertEquals(learnt().guess(shape).orElseThrow().leftBytes(), 8 * 64 * (150 % 9));
        assertTrue(Files.size(file()) < 4000, Files.size(file()) + " bytes");
    }

    @Test
    void load_partsThatDoNotBelongTogether_isNothing() throws Exception {
        for (String[] change :
                new String[][] {
                    {"\"left\":[150]", "\"left\":[200]"},
                    {"\"ends\":[2,", "\"ends\":[0,"},
                    {"\"sizeOf\":[0,", "\"sizeOf\":[99,"},
                    {"\"sizeOf\":[0,", "\"sizeOf\":[0,0,"},
                    {"\"shapes\":[[2,14],", "\"shapes\":[[2],"},
                    {"\"shapes\":[[2,14],", "\"shapes\":["},
                    {"[0,0,0,0]", "[0,0,0,-1]"},
                }) {
            store().save(KEY, learnt());
            Path file = file();
            String text = Files.readString(file);
            assertTrue(text.contains(change[0]), text);
            JsonObject json =
                    JsonParser.parseString(text.replace(change[0], change[1])).getAsJsonObject();
            Files.writeString(file, StoredText.withChecksum(json, "shapes"));
            try (LogCapture log = new LogCapture()) {
                assertTrue(store().load(KEY).isEmpty(), change[1]);
                assertEquals(1, log.lines("WARN").size());
            }
        }
    }
}
