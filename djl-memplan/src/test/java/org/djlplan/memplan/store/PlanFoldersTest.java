package org.djlplan.memplan.store;

import static org.djlplan.memplan.store.SamplePlans.KEY;
import static org.djlplan.memplan.store.SamplePlans.assertSame;
import static org.djlplan.memplan.store.SamplePlans.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where plans are kept: beside the model, or in the cache when that cannot be. */
class PlanFoldersTest extends PlanStoreFixture {

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
}
