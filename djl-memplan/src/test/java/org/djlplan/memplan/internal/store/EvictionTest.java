package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.ofSize;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.junit.jupiter.api.Test;

/** Tests how many files a folder keeps, and which ones are deleted. */
class EvictionTest extends StoreFixture {

    private static final int MOST = KeptFolders.MOST_FILES;

    private static StoreKey shape(int number) {
        return SampleTraces.key("net", "shape " + number);
    }

    private Path fileOf(StoreKey key) {
        return beside.resolve(FORMAT.nameOf(key));
    }

    private boolean has(int shape) {
        return Files.exists(fileOf(shape(shape)));
    }

    private void usedBefore(Path file, Duration age) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
    }

    /** Fills the folder with plans of the shapes from 0 on, the oldest first. */
    private void fill() throws IOException {
        for (int i = 0; i < MOST; i++) {
            store.save(shape(i), ofSize(i));
            usedBefore(fileOf(shape(i)), Duration.ofDays(MOST - i));
        }
        assertEquals(MOST, files(beside).size());
    }

    @Test
    void save_full_removesTheOneNotUsedForLongest() throws IOException {
        fill();
        FolderStore<WeightTrace> fresh = newStore();
        assertTrue(fresh.load(shape(0)).isPresent());
        fresh.save(shape(MOST), small());
        assertTrue(has(0), "it was used");
        assertFalse(has(1));
        assertTrue(has(MOST));
        assertEquals(MOST, files(beside).size());
    }

    @Test
    void save_again_removesNothing() throws IOException {
        fill();
        store.save(shape(7), small());
        assertEquals(MOST, files(beside).size());
        assertTrue(has(0));
    }

    @Test
    void save_othersFiles_areLeft() throws IOException {
        fill();
        Path ofOther = fileOf(SampleTraces.key("net2", "shape"));
        store.save(SampleTraces.key("net2", "shape"), small());
        Path searched = Files.createFile(beside.resolve("net-0123456789abcdef.searched.json"));
        Path named = Files.createFile(beside.resolve("net-.weights.json"));
        Path notes = Files.createFile(beside.resolve("net-0123456789ABCDEF.weights.json"));
        for (Path file : List.of(ofOther, searched, named, notes)) {
            Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH));
        }
        for (int i = 0; i < MOST; i++) {
            store.save(shape(MOST + i), small());
        }
        for (Path file : List.of(ofOther, searched, named, notes)) {
            assertTrue(Files.exists(file), file::toString);
        }
    }

    @Test
    void tryLock_manyKeys_keepsNoMoreLocksThanFiles() throws IOException {
        for (int i = 0; i < 3 * MOST; i++) {
            store.tryLock(shape(i)).orElseThrow().close();
        }
        store.save(shape(0), small());
        assertEquals(MOST + 1, files(beside).size());
    }
}
