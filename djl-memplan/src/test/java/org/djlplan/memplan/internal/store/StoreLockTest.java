package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.djlplan.memplan.testing.OtherJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class StoreLockTest extends StoreFixture {

    /** Takes a lock, prints a line, and holds the lock until it is killed. */
    static final class Holder {

        private Holder() {}

        public static void main(String[] folders) throws InterruptedException {
            Optional<StoreLock> lock =
                    FolderStore.at(FORMAT, Path.of(folders[0]), Path.of(folders[1])).tryLock(KEY);
            System.out.println(lock.isPresent() ? "held" : "refused");
            if (lock.isPresent()) {
                new CountDownLatch(1).await();
            }
        }
    }

    private Process startHolder() throws IOException {
        return OtherJvm.start(Holder.class, models, cache);
    }

    @Test
    @Timeout(60)
    void tryLock_anotherJvmHoldsIt_isRefusedUntilThatIsKilled() throws Exception {
        Process holder = startHolder();
        try {
            assertEquals("held", holder.inputReader().readLine());
            assertEquals(Optional.empty(), store.tryLock(KEY));
            assertEquals(Optional.empty(), store.tryLock(KEY), "a refusal does not free it");
        } finally {
            holder.destroyForcibly();
        }
        holder.waitFor();
        StoreLock lock = store.tryLock(KEY).orElseThrow();
        Process other = startHolder();
        assertEquals("refused", other.inputReader().readLine());
        assertEquals(0, other.waitFor());
        lock.close();
    }

    /** The files that were not locked for longest are removed, when there are many. */
    @Test
    void tryLock_heldWhileManyOlderFilesAreThere_keepsItsFile() throws Exception {
        store.tryLock(KEY).orElseThrow().close();
        Path file;
        try (Stream<Path> files = Files.walk(models)) {
            file = files.filter(f -> f.toString().endsWith(".lock")).findFirst().orElseThrow();
        }
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
        for (int i = 0; i < 40; i++) {
            store.tryLock(SampleTraces.key(KEY.model(), "other" + i)).orElseThrow().close();
        }
        try (StoreLock lock = store.tryLock(KEY).orElseThrow()) {
            store.save(KEY, small());
            assertTrue(lock.acrossProcesses());
            assertTrue(Files.exists(file));
        }
    }

    @Test
    void tryLock_twiceInOneJvm_isRefusedUntilClosed() {
        StoreLock first = store.tryLock(KEY).orElseThrow();
        assertEquals(Optional.empty(), store.tryLock(KEY));
        assertEquals(Optional.empty(), newStore().tryLock(KEY));
        store.tryLock(SampleTraces.key("other", "1")).orElseThrow().close();
        first.close();
        StoreLock second = newStore().tryLock(KEY).orElseThrow();
        first.close();
        assertEquals(Optional.empty(), store.tryLock(KEY), "closing twice frees nobody else's");
        second.close();
    }

    @Test
    void tryLock_modelFolderUnusable_locksInCache() throws IOException {
        Files.createFile(beside);
        StoreLock lock = store.tryLock(KEY).orElseThrow();
        assertEquals(1, files(cache).size());
        assertTrue(files(cache).get(0).toString().endsWith(".json.lock"));
        lock.close();
    }

    @Test
    void tryLock_nowhereToLock_holdsInThisJvm() throws IOException {
        Files.createFile(beside);
        Files.createFile(cache);
        StoreLock lock = store.tryLock(KEY).orElseThrow();
        assertEquals(Optional.empty(), newStore().tryLock(KEY));
        lock.close();
        newStore().tryLock(KEY).orElseThrow().close();
    }

    @Test
    void all_besideALock_areValuesOnly() throws IOException {
        store.tryLock(KEY).orElseThrow().close();
        assertEquals(List.of(), store.all(KEY.model()));
        assertFalse(files(beside).isEmpty());
        store.save(KEY, small());
        assertEquals(1, store.all(KEY.model()).size());
    }
}
