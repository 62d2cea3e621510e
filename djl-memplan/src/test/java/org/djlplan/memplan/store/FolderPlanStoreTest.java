package org.djlplan.memplan.store;

import static org.djlplan.memplan.store.SamplePlans.KEY;
import static org.djlplan.memplan.store.SamplePlans.assertSame;
import static org.djlplan.memplan.store.SamplePlans.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.io.MoreFiles;
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
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.source.block.CreatedArray;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FolderPlanStoreTest {

    @TempDir Path folder;
    private final LogCapture log = new LogCapture();
    private Path models;
    private Path beside;
    private Path cache;
    private PlanStore store;

    @BeforeEach
    void makeFolders() throws IOException {
        models = Files.createDirectory(folder.resolve("models"));
        beside = models.resolve(".djlplan");
        cache = folder.resolve("cache");
        store = newStore();
    }

    @AfterEach
    void stopCapture() {
        log.close();
    }

    private PlanStore newStore() {
        return FolderPlanStore.at(models, cache);
    }

    private static List<Path> files(Path in) throws IOException {
        try (Stream<Path> all = Files.walk(in)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** Saves the small plan and returns its file. */
    private Path saved() throws IOException {
        store.save(KEY, small());
        assertEquals(1, files(beside).size());
        return files(beside).get(0);
    }

    private void assertKept(PlanStore in) {
        assertSame(small(), in.load(KEY).orElseThrow());
    }

    private void assertRefusedWithOneWarning(String reason) {
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(1, log.lines().size(), () -> log.lines().toString());
        assertEquals(1, log.lines("WARN").size(), () -> log.lines().toString());
        assertTrue(log.lines().get(0).contains(reason), () -> log.lines().toString());
    }

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
    void save_modelNameThatNoFileMayHave_isKept() {
        PlanKey key = SamplePlans.key("../über/modèle: \"v1\"\n", "1:float32");
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
        for (PlanKey other :
                List.of(
                        SamplePlans.key("resnet18", "2:float32"),
                        SamplePlans.key("resnet19", "1x3x224x224:float32"),
                        new PlanKey("resnet18", Map.of("engine", "PyTorch 2.1.1")))) {
            Files.write(file, PlanFile.toBytes(other, small()));
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
    void load_otherVersion_isToldWithoutWarning() throws IOException {
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
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

    @Test
    void load_deeplyNestedText_isRefused() throws IOException {
        Path file = saved();
        String deep = "[".repeat(1_000_000);
        for (String text :
                List.of(deep, "{\"version\":" + deep, "{\"version\":1,\"key\":" + deep)) {
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
                        "bytes", "[" + "1,".repeat(PlanFile.MOST_ENTRIES) + "1]"));
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
    void load_folderInPlaceOfFile_isRefusedAndCacheUsed() throws IOException {
        Path file = saved();
        Files.delete(file);
        Files.createDirectories(file.resolve("inside"));
        assertRefusedWithOneWarning("not a file");
        store.save(KEY, small());
        assertKept(newStore());
    }

    @Test
    void save_fileInPlaceOfFolder_goesToCache() throws IOException {
        Files.createFile(beside);
        store.save(KEY, small());
        store.save(KEY, small());
        assertKept(newStore());
        assertEquals(1, files(cache).size());
        assertEquals(1, log.lines("INFO").size());
        assertEquals(List.of(), log.lines("WARN"));
    }

    @Test
    void save_modelFolderIsAFileOrMissing_goesToCache() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        Path missing = folder.resolve("missing");
        for (Path place : List.of(file, missing)) {
            FolderPlanStore.at(place, cache).save(KEY, small());
            assertKept(FolderPlanStore.at(place, cache));
        }
        assertEquals(2, files(cache).size());
        assertFalse(Files.exists(missing));
    }

    @Test
    void save_nowhereToKeep_isToldOnce() throws IOException {
        Files.createFile(beside);
        Files.createFile(cache);
        store.save(KEY, small());
        store.save(KEY, small());
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(1, log.lines("WARN").size(), () -> log.lines().toString());
        assertEquals(1, log.lines().size(), "nothing is said to be kept in the cache");
    }

    @Test
    void save_cacheIsUnusable_isKeptBesideTheModel() throws IOException {
        Files.createFile(cache);
        saved();
        assertKept(store);
        assertEquals(List.of(), log.lines());
    }

    @Test
    void save_twoModelsOfOneName_doNotShareTheCache() throws IOException {
        for (String parent : List.of("a", "b")) {
            Path model = Files.createDirectories(folder.resolve(parent).resolve("model"));
            Files.createFile(model.resolve(".djlplan"));
            FolderPlanStore.at(model, cache).save(KEY, SamplePlans.ofSize(parent.charAt(0)));
        }
        List<Path> kept = files(cache);
        assertEquals(2, kept.size());
        assertNotEquals(kept.get(0).getParent(), kept.get(1).getParent());
        assertTrue(kept.get(0).getParent().getFileName().toString().startsWith("model-"));
        PlanStore b = FolderPlanStore.at(folder.resolve("b/model"), cache);
        assertSame(SamplePlans.ofSize('b'), b.load(KEY).orElseThrow());
    }

    @Test
    void load_planInBothFolders_takesTheLaterSaved() throws IOException {
        saved();
        Path aside = folder.resolve("aside");
        Files.move(beside, aside);
        Files.createFile(beside);
        store.save(KEY, SamplePlans.ofSize(2));
        Files.delete(beside);
        Files.move(aside, beside);
        assertSame(SamplePlans.ofSize(2), store.load(KEY).orElseThrow());
        store.save(KEY, SamplePlans.ofSize(3));
        assertSame(SamplePlans.ofSize(3), store.load(KEY).orElseThrow());
        assertEquals(List.of(), files(cache));
    }

    @Test
    void load_damagedInCache_takesTheOneBesideTheModel() throws IOException {
        Files.createFile(beside);
        store.save(KEY, small());
        Files.writeString(files(cache).get(0), "damaged");
        Path inCache = files(cache).get(0);
        Files.delete(beside);
        Files.createDirectory(beside);
        Files.write(beside.resolve(inCache.getFileName()), PlanFile.toBytes(KEY, small()));
        assertKept(store);
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_folderRemovedInBetween_isMadeAgain() throws IOException {
        saved();
        MoreFiles.deleteRecursively(beside);
        assertEquals(Optional.empty(), store.load(KEY));
        saved();
        assertKept(store);
        assertEquals(List.of(), log.lines());
    }

    @Test
    void save_planTooLargeToBeRead_isNotKept() throws IOException {
        CreatedArray array =
                new CreatedArray(new ArrayType("int8", List.of()), OptionalInt.empty());
        for (int size : List.of(PlanFile.MOST_ENTRIES, PlanFile.MOST_ENTRIES + 1)) {
            LivenessTrace trace = new LivenessTrace(Collections.nCopies(size, array));
            StoredPlan plan = new StoredPlan(Optional.of(trace), Optional.empty());
            store.save(KEY, plan);
            assertEquals(
                    size <= PlanFile.MOST_ENTRIES,
                    store.load(KEY).equals(Optional.of(plan)),
                    "the largest plan is kept, a larger one is not");
        }
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_textThatIsNoUnicode_isNotKept() {
        PlanKey key = SamplePlans.key("model", "\ud800");
        store.save(key, small());
        assertEquals(Optional.empty(), store.load(key));
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void save_relativeModelFolder_isTheSameAsAbsolute() {
        Path relative = Path.of("").toAbsolutePath().relativize(models);
        FolderPlanStore.at(relative, cache).save(KEY, small());
        assertKept(store);
    }
}
