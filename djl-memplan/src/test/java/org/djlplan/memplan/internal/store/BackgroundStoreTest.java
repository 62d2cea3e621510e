package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class BackgroundStoreTest {

    @TempDir Path folder;

    private final Semaphore mayWrite = new Semaphore(0);
    private final Semaphore begun = new Semaphore(0);
    private final List<String> written = Collections.synchronizedList(new ArrayList<>());
    private final Map<StoreKey, String> values = new ConcurrentHashMap<>();
    private final BackgroundStore<String> store = new BackgroundStore<>(new Slow());

    /** A store that blocks each write until the test allows it. */
    private final class Slow implements Store<String> {

        @Override
        public Optional<String> load(StoreKey key) {
            return Optional.ofNullable(values.get(key));
        }

        @Override
        public void save(StoreKey key, String value) {
            begun.release();
            mayWrite.acquireUninterruptibly();
            if (value.equals("bad")) {
                throw new IllegalStateException(value);
            }
            values.put(key, value);
            written.add(value);
        }

        @Override
        public void flush() {}
    }

    private static StoreKey key(int number) {
        return SampleTraces.key("model", Integer.toString(number));
    }

    @Test
    void save_slowDisk_isFoundBeforeItIsWritten() {
        store.save(key(1), "one");
        store.save(key(2), "two");
        assertEquals(Optional.of("one"), store.load(key(1)));
        assertEquals(Optional.of("two"), store.load(key(2)));
        assertEquals(Optional.empty(), store.load(key(3)));
        assertEquals(List.of(), written);
        mayWrite.release(2);
        store.flush();
        assertEquals(List.of("one", "two"), written);
        assertEquals(Optional.of("one"), store.load(key(1)));
    }

    @Test
    void save_whileTheSameIsWritten_isWrittenAfterwards() {
        store.save(key(1), "one");
        begun.acquireUninterruptibly();
        store.save(key(1), "other");
        mayWrite.release(2);
        store.flush();
        assertEquals(List.of("one", "other"), written);
    }

    @Test
    void save_moreThanMayWait_dropsTheLast() {
        for (int i = 0; i < 2 * BackgroundStore.MOST_WAITING; i++) {
            store.save(key(i), Integer.toString(i));
        }
        mayWrite.release(2 * BackgroundStore.MOST_WAITING);
        store.flush();
        assertEquals(BackgroundStore.MOST_WAITING, written.size());
        assertTrue(written.contains("0"));
    }

    @Test
    void save_innerStoreFails_writesTheRest() {
        try (LogCapture log = new LogCapture()) {
            store.save(key(1), "bad");
            store.save(key(2), "good");
            mayWrite.release(2);
            store.flush();
            assertEquals(1, log.lines("WARN").size());
        }
        assertEquals(List.of("good"), written);
    }

    /** As at a limit of processes. */
    @Test
    void save_noThreadCanBeStarted_dropsTheValueAndWritesLaterOnes() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        AtomicBoolean full = new AtomicBoolean(true);
        BackgroundStore<String> limited =
                new BackgroundStore<>(
                        new Slow(),
                        task -> {
                            if (full.get()) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            tasks.add(task);
                        });
        limited.save(key(1), "one");
        limited.flush();
        assertEquals(Optional.empty(), limited.load(key(1)));

        full.set(false);
        mayWrite.release();
        limited.save(key(2), "two");
        tasks.remove().run();
        assertEquals(List.of("two"), written);
    }

    @Test
    void flush_interrupted_returnsAtOnce() {
        store.save(key(1), "one");
        Thread.currentThread().interrupt();
        store.flush();
        assertTrue(Thread.interrupted());
        mayWrite.release();
        store.flush();
        assertEquals(List.of("one"), written);
    }

    /** Saves a value and ends at once, like an application that predicts once. */
    static final class OneSave {

        private OneSave() {}

        public static void main(String[] folders) {
            new BackgroundStore<>(
                            FolderStore.at(
                                    new WeightTraceCodec(),
                                    Path.of(folders[0]),
                                    Path.of(folders[1])))
                    .save(KEY, SampleTraces.small());
            if (folders[2].equals("exit")) {
                System.exit(0);
            }
        }
    }

    @Test
    void save_lastThingOfAJvm_isWritten() throws Exception {
        for (String end : List.of("return", "exit")) {
            Path models = Files.createDirectory(folder.resolve(end));
            Process process =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    OneSave.class.getName(),
                                    models.toString(),
                                    folder.resolve("cache").toString(),
                                    end)
                            .inheritIO()
                            .start();
            assertEquals(0, process.waitFor());
            assertTrue(
                    FolderStore.at(new WeightTraceCodec(), models, folder.resolve("cache"))
                            .load(KEY)
                            .isPresent(),
                    end);
        }
    }
}
