package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.junit.jupiter.api.Test;

/**
 * Tests where plans are stored: beside the model, or in the cache if the model's folder cannot be
 * written.
 */
class KeptFoldersTest extends StoreFixture {

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
            FolderStore.at(FORMAT, place, cache).save(KEY, small());
            assertKept(FolderStore.at(FORMAT, place, cache));
        }
        assertEquals(2, files(cache).size());
        assertFalse(Files.exists(missing));
    }

    @Test
    void save_noWritableFolder_warnsOnce() throws IOException {
        Files.createFile(beside);
        Files.createFile(cache);
        store.save(KEY, small());
        store.save(KEY, small());
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(1, log.lines("WARN").size(), () -> log.lines().toString());
        assertEquals(1, log.lines().size(), "nothing is said to be kept in the cache");
    }

    @Test
    void save_cacheUnusable_storesBesideTheModel() throws IOException {
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
            FolderStore.at(FORMAT, model, cache).save(KEY, SampleTraces.ofSize(parent.charAt(0)));
        }
        List<Path> kept = files(cache);
        assertEquals(2, kept.size());
        assertNotEquals(kept.get(0).getParent(), kept.get(1).getParent());
        assertTrue(kept.get(0).getParent().getFileName().toString().startsWith("model-"));
        FolderStore<WeightTrace> b = FolderStore.at(FORMAT, folder.resolve("b/model"), cache);
        assertEquals(SampleTraces.ofSize('b'), b.load(KEY).orElseThrow());
    }

    @Test
    void load_planInBothFolders_takesTheLaterSaved() throws IOException {
        saved();
        Path aside = folder.resolve("aside");
        Files.move(beside, aside);
        Files.createFile(beside);
        store.save(KEY, SampleTraces.ofSize(2));
        Files.delete(beside);
        Files.move(aside, beside);
        assertEquals(SampleTraces.ofSize(2), store.load(KEY).orElseThrow());
        store.save(KEY, SampleTraces.ofSize(3));
        assertEquals(SampleTraces.ofSize(3), store.load(KEY).orElseThrow());
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
        Files.write(beside.resolve(inCache.getFileName()), FORMAT.toBytes(KEY, small()));
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
    void all_plansInBothFolders_listsEachOfTheModelOnce() throws IOException {
        String longName = "m".repeat(70);
        List<StoreKey> keys =
                List.of(
                        KEY,
                        SampleTraces.key("resnet18", "2:float32"),
                        SampleTraces.key("resnet18-1", "2:float32"),
                        SampleTraces.key(longName + "1", "2:float32"),
                        SampleTraces.key(longName + "2", "2:float32"));
        keys.forEach(key -> store.save(key, SampleTraces.ofSize(1)));
        Path aside = folder.resolve("aside");
        Files.move(beside, aside);
        Files.createFile(beside);
        store.save(KEY, SampleTraces.ofSize(2));
        Files.delete(beside);
        Files.move(aside, beside);
        List<Kept<WeightTrace>> kept = store.all("resnet18");
        assertEquals(Set.copyOf(keys.subList(0, 2)), keysOf(kept));
        assertEquals(2, kept.size());
        assertTrue(kept.contains(new Kept<>(KEY, SampleTraces.ofSize(2))), "the later saved");
        assertEquals(Set.of(keys.get(3)), keysOf(store.all(longName + "1")));
        assertEquals(List.of(), store.all("other"));
        assertEquals(List.of(), log.lines("WARN"));
    }

    private static Set<StoreKey> keysOf(List<Kept<WeightTrace>> kept) {
        return kept.stream().map(Kept::key).collect(Collectors.toSet());
    }

    @Test
    void all_damagedOrRenamed_isSkippedAndLogged() throws IOException {
        Path file = saved();
        Path other = beside.resolve("resnet18-0123456789abcdef.weights.json");
        Files.copy(file, other);
        assertEquals(Set.of(KEY), keysOf(store.all("resnet18")));
        assertEquals(1, log.lines("WARN").size());
        Files.writeString(file, "{");
        assertEquals(List.of(), store.all("resnet18"));
        assertEquals(List.of(), store.all("resnet18"));
        assertEquals(2, log.lines("WARN").size());
    }

    @Test
    void all_noFolder_isEmpty() throws IOException {
        assertEquals(List.of(), store.all("resnet18"));
        Files.createFile(beside);
        assertEquals(List.of(), store.all("resnet18"));
        assertEquals(List.of(), log.lines());
    }
}
