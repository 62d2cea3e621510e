package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FolderStoreTest extends StoreFixture {

    @Test
    void at_anyFolder_createsNothing() throws IOException {
        assertEquals(Optional.empty(), store.load(KEY));
        assertFalse(Files.exists(beside));
        assertFalse(Files.exists(cache));
        assertEquals(List.of(), log.lines());
    }

    @Test
    void save_value_isFoundByAnotherStore() throws IOException {
        Path file = saved();
        assertTrue(file.getFileName().toString().matches("resnet18-[0-9a-f]{16}[.]weights[.]json"));
        assertKept(newStore());
        assertFalse(Files.exists(cache));
        assertEquals(List.of(), log.lines());
    }

    @Test
    void save_again_replacesTheFile() throws IOException {
        saved();
        store.save(KEY, SampleTraces.ofSize(7));
        assertEquals(1, files(beside).size());
        assertEquals(SampleTraces.ofSize(7), store.load(KEY).orElseThrow());
    }

    @Test
    void save_modelNameThatNoFileMayHave_isStored() {
        StoreKey key = SampleTraces.key("../über/modèle: \"v1\"\n", "1:float32");
        store.save(key, small());
        assertEquals(small(), store.load(key).orElseThrow());
        assertTrue(Files.exists(beside));
    }

    @Test
    void load_keyWithAnotherFact_isEmpty() throws IOException {
        saved();
        assertEquals(Optional.empty(), store.load(SampleTraces.key("resnet18", "2:float32")));
        assertEquals(List.of(), log.lines());
    }

    @Test
    void load_fileOfAnotherKeyUnderThisName_isRefused() throws IOException {
        Path file = saved();
        for (StoreKey other :
                List.of(
                        SampleTraces.key("resnet18", "2:float32"),
                        SampleTraces.key("resnet19", "1x3x224x224:float32"),
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
    void load_otherVersion_isMadeAgainAfterOneWarning() throws IOException {
        Path file = saved();
        JsonObject older = text();
        older.addProperty("version", 0);
        Files.writeString(file, older.toString());
        assertRefusedWithOneWarning("version 0 of the format, not 3");
        store.save(KEY, small());
        assertKept(store);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "pieces | [{\"offsetBytes\":100,\"bytes\":4096}] | a piece of",
                "stepNanos | [5,6] | steps without a time",
                "stepNanos | [5,6,-1] | negative times",
                "stepBytes | [5,6,1e30] | NumberFormatException",
                "uses | [{\"piece\":0,\"first\":1,\"last\":3,\"bytes\":8192}] | no such step",
                "uses | [null] | Expected BEGIN_OBJECT",
            })
    void load_wrongNumbersUnderARightChecksum_isRefused(String part, String value, String reason)
            throws IOException {
        Files.writeString(saved(), with(part, value));
        assertRefusedWithOneWarning(reason);
    }

    private static JsonObject text() throws IOException {
        String text = new String(FORMAT.toBytes(KEY, small()), StandardCharsets.UTF_8);
        return JsonParser.parseString(text).getAsJsonObject();
    }

    /** Returns the text of the small value with a part replaced, under a right checksum. */
    private static String with(String part, String value) throws IOException {
        JsonObject file = text();
        file.getAsJsonObject("weights").add(part, JsonParser.parseString(value));
        file.addProperty("sha256", Format.sha256(file.get("weights").toString()));
        return file.toString();
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
        Files.writeString(file, with("uses", "0").replace(":0,", ":" + deep));
        assertEquals(Optional.empty(), newStore().load(KEY));
        Files.writeString(file, "{\"a\":".repeat(1_000_000));
        assertEquals(Optional.empty(), newStore().load(KEY));
        assertEquals(5, log.lines("WARN").size());
    }

    @Test
    void load_hugeFile_isRefusedUnread() throws IOException {
        Path file = saved();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[1]), 1L << 40);
        }
        assertRefusedWithOneWarning("too many for a weights");
    }

    @Test
    void save_valueTooLargeToBeRead_isNotStored() {
        int most = (int) Format.MOST_BYTES / 4;
        for (int size : List.of(most / 16, most)) {
            ImmutableLongArray steps = ImmutableLongArray.copyOf(Collections.nCopies(size, 10L));
            WeightTrace trace = new WeightTrace(List.of(), steps, steps, List.of(), List.of());
            store.save(KEY, trace);
            assertEquals(size < most, store.load(KEY).equals(Optional.of(trace)));
        }
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_invalidUnicode_isNotStored() {
        StoreKey key = SampleTraces.key("model", "\ud800");
        store.save(key, small());
        assertEquals(Optional.empty(), store.load(key));
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_relativeModelFolder_isTheSameAsAbsolute() {
        Path relative = Path.of("").toAbsolutePath().relativize(models);
        FolderStore.at(FORMAT, relative, cache).save(KEY, small());
        assertKept(store);
    }
}
