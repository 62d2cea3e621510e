package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A store over temporary folders, with its log. */
abstract class StoreFixture {

    @TempDir Path folder;
    final LogCapture log = new LogCapture();
    Path models;
    Path beside;
    Path cache;
    FolderStore<WeightTrace> store;

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

    FolderStore<WeightTrace> newStore() {
        return FolderStore.at(FORMAT, models, cache);
    }

    static List<Path> files(Path in) throws IOException {
        try (Stream<Path> all = Files.walk(in)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** Saves the small plan and returns its file. */
    Path saved() throws IOException {
        store.save(KEY, small());
        assertEquals(1, files(beside).size());
        return files(beside).get(0);
    }

    void assertKept(FolderStore<WeightTrace> in) {
        assertEquals(small(), in.load(KEY).orElseThrow());
    }

    void assertRefusedWithOneWarning(String reason) {
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(Optional.empty(), store.load(KEY));
        assertEquals(1, log.lines().size(), () -> log.lines().toString());
        assertEquals(1, log.lines("WARN").size(), () -> log.lines().toString());
        assertTrue(log.lines().get(0).contains(reason), () -> log.lines().toString());
    }
}
