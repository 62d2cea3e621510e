package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that links in a model's folder are not followed, removed or replaced. */
class LinksTest extends StoreFixture {

    private static final String OUR_TEMPORARY = "net-0123456789abcdef.weights.json.1a.tmp";

    private Path others;
    private Map<Path, String> before;

    /** Makes another user's folder that has old files with various names, including ours. */
    @BeforeEach
    void makeOthersFolder() throws IOException {
        others = Files.createDirectory(folder.resolve("others"));
        List<Path> files = new ArrayList<>();
        for (String name : List.of("upload-123.tmp", "notes.json", OUR_TEMPORARY)) {
            files.add(Files.writeString(others.resolve(name), "others"));
        }
        for (Path file : files) {
            Files.setLastModifiedTime(
                    file, FileTime.from(Instant.now().minusSeconds(TimeUnit.HOURS.toSeconds(2))));
        }
        before = snapshot();
    }

    private Map<Path, String> snapshot() throws IOException {
        Map<Path, String> all = new TreeMap<>();
        try (Stream<Path> files = Files.walk(others)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.put(file, Files.readString(file) + Files.getLastModifiedTime(file));
            }
        }
        return all;
    }

    private void assertOthersUntouched() throws IOException {
        assertEquals(before, snapshot());
    }

    @Test
    void save_folderIsALinkToAnother_keepsInTheCacheAndTouchesNothing() throws IOException {
        Files.createSymbolicLink(beside, others);
        store.save(KEY, small());
        assertOthersUntouched();
        assertTrue(Files.isSymbolicLink(beside));
        assertEquals(1, files(cache).size());
        assertKept(newStore());
    }

    @Test
    void load_folderIsALink_readsNothingAndWarnsOnce() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        FolderStore.at(FORMAT, elsewhere, cache).save(KEY, small());
        Files.createSymbolicLink(beside, elsewhere.resolve(".djlplan"));
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(List.of(), store.all(KEY.model()));
        assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
        assertTrue(log.lines().get(0).contains("is a link, which is not followed"));
    }

    @Test
    void save_folderIsADanglingLink_createsNothingWhereItLeads() throws IOException {
        Path missing = folder.resolve("missing");
        Files.createSymbolicLink(beside, missing);
        store.save(KEY, small());
        store.tryLock(KEY).orElseThrow().close();
        assertFalse(Files.exists(missing));
        assertTrue(Files.isSymbolicLink(beside));
        assertKept(newStore());
    }

    @Test
    void save_folderIsALinkToAFile_leavesTheFile() throws IOException {
        Files.createSymbolicLink(beside, others.resolve("notes.json"));
        store.save(KEY, small());
        assertOthersUntouched();
        assertKept(newStore());
    }

    @Test
    void saveLoad_planIsALink_isNeitherReadNorReplaced() throws IOException {
        Path plan = saved();
        Path target = Files.move(plan, others.resolve("plan"));
        before = snapshot();
        for (Path leadsTo : List.of(target, folder.resolve("missing"), others)) {
            Files.createSymbolicLink(plan, leadsTo);
            FolderStore<WeightTrace> fresh = newStore();
            assertEquals(Optional.empty(), fresh.load(KEY));
            fresh.save(KEY, small());
            assertTrue(Files.isSymbolicLink(plan));
            assertEquals(leadsTo, Files.readSymbolicLink(plan));
            assertKept(newStore());
            assertOthersUntouched();
            assertFalse(Files.exists(folder.resolve("missing")));
            Files.delete(plan);
            Files.delete(files(cache).get(0));
        }
        assertTrue(log.lines("WARN").stream().allMatch(line -> line.contains("not a file")));
    }

    @Test
    void save_linksUnderOurNames_areNeverEvicted() throws IOException {
        Path plan = saved();
        for (int i = 0; i < 2 * KeptFolders.MOST_FILES; i++) {
            String name = "resnet18-%016x.weights.json".formatted(i);
            Files.createSymbolicLink(beside.resolve(name), others.resolve("notes.json"));
            Files.createSymbolicLink(
                    beside.resolve(name + ".lock"), others.resolve("upload-123.tmp"));
            Files.createSymbolicLink(
                    beside.resolve(name + ".1.tmp"), others.resolve(OUR_TEMPORARY));
        }
        store.save(SampleTraces.key("resnet18", "other"), small());
        store.save(SampleTraces.key("resnet18", "another"), small());
        try (Stream<Path> all = Files.list(beside)) {
            assertEquals(6L * KeptFolders.MOST_FILES, all.filter(Files::isSymbolicLink).count());
        }
        try (Stream<Path> all = Files.list(beside)) {
            assertEquals(3, all.filter(KeptFolders::isFile).count());
        }
        assertTrue(Files.exists(plan));
        assertOthersUntouched();
    }

    @Test
    void tryLock_lockIsALink_isNotOpened() throws IOException {
        store.tryLock(KEY).orElseThrow().close();
        Path lock = files(beside).get(0);
        for (Path leadsTo : List.of(others.resolve("notes.json"), folder.resolve("missing"))) {
            Files.delete(lock);
            Files.createSymbolicLink(lock, leadsTo);
            store.tryLock(KEY).orElseThrow().close();
            assertTrue(Files.isSymbolicLink(lock));
            assertFalse(Files.exists(folder.resolve("missing"), LinkOption.NOFOLLOW_LINKS));
            assertOthersUntouched();
        }
    }

    @Test
    @Timeout(60)
    void tryLock_lockIsAPipe_doesNotWaitForAReader() throws Exception {
        store.tryLock(KEY).orElseThrow().close();
        Path lock = files(beside).get(0);
        Files.delete(lock);
        assertEquals(0, new ProcessBuilder("mkfifo", lock.toString()).start().waitFor());
        store.tryLock(KEY).orElseThrow().close();
        assertEquals(1, files(cache).size(), "locked there instead");
    }

    @Test
    void save_cacheFolderOfTheModelIsALink_isNotFollowed() throws IOException {
        Files.createFile(beside);
        store.save(KEY, small());
        Path own = files(cache).get(0).getParent();
        Files.delete(files(cache).get(0));
        Files.delete(own);
        Files.createSymbolicLink(own, others);
        FolderStore<WeightTrace> fresh = newStore();
        fresh.save(KEY, small());
        assertEquals(Optional.empty(), fresh.load(KEY));
        assertOthersUntouched();
    }

    @Test
    void findOrMake_copyIsALink_isMadeInTheCacheAndTheLinkStays() throws IOException {
        Path model = Files.writeString(models.resolve("net.tflite"), "weights");
        KeptCopies copies = new KeptCopies(model, cache, new Fingerprints(cache), ".tflite");
        Path written = copy(copies);
        Files.delete(written);
        Files.createSymbolicLink(written, others.resolve("notes.json"));
        assertTrue(copy(copies).startsWith(cache));
        assertTrue(Files.isSymbolicLink(written));
        assertOthersUntouched();
    }

    private static Path copy(KeptCopies copies) throws IOException {
        return copies.findOrMake(
                        KEY,
                        found -> true,
                        Long.MAX_VALUE,
                        file -> {
                            Files.writeString(file, "copy");
                            return OptionalLong.empty();
                        })
                .file();
    }

    /** Caches of downloads have such links. */
    @Test
    void save_modelFolderIsALink_isFollowed() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), models);
        FolderStore.at(FORMAT, link, cache).save(KEY, small());
        assertEquals(1, files(beside).size());
        assertKept(FolderStore.at(FORMAT, link, cache));
    }
}
