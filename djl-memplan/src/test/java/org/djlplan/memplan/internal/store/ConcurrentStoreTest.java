package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests several writers and readers, each with a store of its own, as in separate JVMs. */
class ConcurrentStoreTest {

    private static final int THREADS = 4;
    private static final int ROUNDS = 200;

    @TempDir Path folder;

    @Test
    @Timeout(60)
    void saveLoad_byThreadsAtOnce_findsAWholePlanAlways() throws Exception {
        run(folder);
        assertEquals(1, count(folder.resolve(".djlplan")));
    }

    @Test
    @Timeout(60)
    void saveLoad_byThreadsAtOnceInCache_findsAWholePlanAlways() throws Exception {
        Files.createFile(folder.resolve(".djlplan"));
        run(folder);
        try (Stream<Path> models = Files.list(folder.resolve("cache/djlplan"))) {
            assertEquals(1, count(models.findFirst().orElseThrow()));
        }
    }

    private static void run(Path folder) throws Exception {
        Path cache = folder.resolve("cache");
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (LogCapture log = new LogCapture()) {
            FolderStore.at(FORMAT, folder, cache).save(KEY, SampleTraces.ofSize(0));
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                FolderStore<WeightTrace> store = FolderStore.at(FORMAT, folder, cache);
                running.add(threads.submit(() -> saveAndLoad(store, thread)));
            }
            for (Future<?> each : running) {
                each.get();
            }
            assertEquals(List.of(), log.lines("WARN"));
        } finally {
            threads.shutdown();
        }
    }

    private static void saveAndLoad(FolderStore<WeightTrace> store, int thread) {
        for (int round = 0; round < ROUNDS; round++) {
            store.save(KEY, SampleTraces.ofSize(thread));
            WeightTrace found = store.load(KEY).orElseThrow();
            assertTrue(found.stepBytes().get(0) < THREADS);
        }
    }

    private static long count(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.count();
        }
    }
}
