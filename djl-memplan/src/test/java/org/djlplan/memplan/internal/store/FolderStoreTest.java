package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SamplePlans.FORMAT;
import static org.djlplan.memplan.internal.store.SamplePlans.KEY;
import static org.djlplan.memplan.internal.store.SamplePlans.assertSame;
import static org.djlplan.memplan.internal.store.SamplePlans.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FolderStoreTest extends PlanStoreFixture {

    @Test
    void at_anyFolder_createsNothing() throws IOException {
        assertEquals(Optional.empty(), store.load(KEY));
        assertFalse(Files.exists(beside));
        assertFalse(Files.exists(cache));
        assertEquals(List.of(), log.lines());
    }

    @Test
    void save_plan_isFoundByAnotherStore() throws IOException {
        Path file = saved();
        assertTrue(file.getFileName().toString().matches("resnet18-[0-9a-f]{16}[.]json"));
        assertKept(newStore());
        assertFalse(Files.exists(cache));
        assertEquals(List.of(), log.lines());
    }

    @Test
    void save_again_replacesTheFile() throws IOException {
        saved();
        store.save(KEY, SamplePlans.ofSize(7));
        assertEquals(1, files(beside).size());
        assertSame(SamplePlans.ofSize(7), store.load(KEY).orElseThrow());
    }

    @Test
    void save_modelNameThatNoFileMayHave_isStored() {
        StoreKey key = SamplePlans.key("../über/modèle: \"v1\"\n", "1:float32");
        store.save(key, small());
        assertSame(small(), store.load(key).orElseThrow());
        assertTrue(Files.exists(beside));
    }

    @Test
    void load_keyWithAnotherFact_isEmpty() throws IOException {
        saved();
        assertEquals(Optional.empty(), store.load(SamplePlans.key("resnet18", "2:float32")));
        assertEquals(List.of(), log.lines());
    }

    @Test
    void load_fileOfAnotherKeyUnderThisName_isRefused() throws IOException {
        Path file = saved();
        for (StoreKey other :
                List.of(
                        SamplePlans.key("resnet18", "2:float32"),
                        SamplePlans.key("resnet19", "1x3x224x224:float32"),
                        new StoreKey("resnet18", Map.of("engine", "PyTorch 2.1.1")))) {
            Files.write(file, FORMAT.toBytes(other, small()));
            assertEquals(Optional.empty(), newStore().load(KEY));
        }
        assertEquals(3, log.lines("WARN").size());
        assertTrue(log.lines().stream().allMatch(line -> line.contains("another key")));
    }

    @Test
    void load_damagedFile_isReplacedByTheNextSave() throws IOException {
        Path file = saved();
        Files.writeString(file, "{");
        assertRefusedWithOneWarning(file.toString());
        store.save(KEY, small());
        assertKept(store);
        Files.writeString(file, "");
        store.load(KEY);
        assertEquals(2, log.lines("WARN").size(), "new damage is told anew");
    }

    @Test
    void load_otherVersion_isLoggedWithoutWarning() throws IOException {
        Path file = saved();
        JsonObject older = StoredText.of(KEY, small());
        older.addProperty("version", 0);
        Files.writeString(file, older.toString());
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(List.of(), log.lines("WARN"));
        assertEquals(1, log.lines("INFO").size());
        store.save(KEY, small());
        assertKept(store);
    }

    /** Files of version 2 contain how long the search for a smaller plan took. */
    @Test
    void load_fileOfTheLastVersion_isMadeAnewWithoutWarning() throws IOException {
        Path file = saved();
        JsonObject last = StoredText.of(KEY, small());
        last.addProperty("version", 2);
        JsonObject allocations = last.getAsJsonObject("plan").getAsJsonObject("allocations");
        allocations.addProperty("provedMinimal", false);
        allocations.addProperty("searchedMillis", 10_000);
        Files.writeString(file, StoredText.withChecksum(last));
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(List.of(), log.lines("WARN"));
        store.save(KEY, small());
        assertKept(newStore());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "strategy | '\"two\\nlines\"' | a strategy of no such name",
                "offset | [0,-1,-1,64] | allocation 0 and allocation 3 overlap",
                "offset | [0,-1,-1,3211265] | no multiple of 64",
                "offset | [0,-1,-1,-64] | negative offset",
                "offset | [0,-1,-1,6422528] | more than naive",
                "offset | [0,-1,-1,9223372036854775744] | in an arena of",
                "offset | [0,-1,-1,-1] | no offset for",
                "offset | [0,-1,0,3211264] | offsets without a unit",
                "offset | [0,-1,-1] | parallel arrays",
                "bytes | [9223372036854775807,0,4,1000] | overflow",
                "bytes | [-1,0,4,1000] | an allocation of -1 bytes",
                "allocatedAt | [0,4294967296,3,4] | overflow",
                "allocatedAt | [0,0,3,4] | an allocation at 0 after one at 0",
                "freedAt | [5,2,-2,6] | freed at",
            })
    void load_wrongNumbersUnderARightChecksum_isRefused(String part, String value, String reason)
            throws IOException {
        Files.writeString(saved(), StoredText.withAllocations(part, value));
        assertRefusedWithOneWarning(reason);
    }

    /** The file is valid, but no prediction could get such an arena. */
    @Test
    void load_arenaLargerThanTheMachine_isRefused() throws IOException {
        long bytes = 1L << 40;
        JsonObject file =
                StoredText.of(
                        KEY,
                        new StoredPlan(
                                Optional.empty(),
                                Optional.of(
                                        SamplePlans.planned(
                                                new Allocation(bytes, 0, OptionalInt.of(1))))));
        Files.writeString(saved(), StoredText.withChecksum(file));
        assertRefusedWithOneWarning("more than this machine has");
    }

    @Test
    void load_deeplyNestedText_isRefused() throws IOException {
        Path file = saved();
        String deep = "[".repeat(1_000_000);
        for (String text :
                List.of(deep, "{\"version\":" + deep, "{\"version\":3,\"key\":" + deep)) {
            Files.writeString(file, text);
            assertEquals(Optional.empty(), newStore().load(KEY));
        }
        Files.writeString(file, StoredText.withAllocations("bytes", "0").replace(":0,", deep));
        assertEquals(Optional.empty(), newStore().load(KEY));
        Files.writeString(file, "{\"a\":".repeat(1_000_000));
        assertEquals(Optional.empty(), newStore().load(KEY));
        assertEquals(5, log.lines("WARN").size());
    }

    @Test
    void load_moreEntriesThanAPlanHas_isRefused() throws IOException {
        Files.writeString(
                saved(),
                StoredText.withAllocations(
                        "bytes", "[" + "1,".repeat(PlanCodec.MOST_ENTRIES) + "1]"));
        assertRefusedWithOneWarning("more than 65536 entries");
    }

    @Test
    void load_hugeFile_isRefusedUnread() throws IOException {
        Path file = saved();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[1]), 1L << 40);
        }
        assertRefusedWithOneWarning("too many for a plan");
    }

    @Test
    void save_planTooLargeToBeRead_isNotStored() throws IOException {
        LivenessTrace.Array array =
                new LivenessTrace.Array(new ArrayType("int8", List.of()), OptionalInt.empty());
        for (int size : List.of(PlanCodec.MOST_ENTRIES, PlanCodec.MOST_ENTRIES + 1)) {
            LivenessTrace trace = new LivenessTrace(Collections.nCopies(size, array));
            StoredPlan plan = new StoredPlan(Optional.of(trace), Optional.empty());
            store.save(KEY, plan);
            assertEquals(
                    size <= PlanCodec.MOST_ENTRIES,
                    store.load(KEY).equals(Optional.of(plan)),
                    "the largest plan is kept, a larger one is not");
        }
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_invalidUnicode_isNotStored() {
        StoreKey key = SamplePlans.key("model", "\ud800");
        store.save(key, small());
        assertEquals(Optional.empty(), store.load(key));
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_relativeModelFolder_isTheSameAsAbsolute() {
        Path relative = Path.of("").toAbsolutePath().relativize(models);
        FolderStore.at(new PlanCodec(), relative, cache).save(KEY, small());
        assertKept(store);
    }
}
