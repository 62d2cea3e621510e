package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.integration.support.TmpFs;
import org.djlplan.memplan.store.SharedFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder that machines share, whose disk fills up while they use it. */
class FullStoreTest {

    private static final byte[] OLD = new byte[20_000];
    private static final byte[] NEW = new byte[30_000];

    @Test
    void put_diskFillsUp_entriesStayWholeAndNothingIsLeft(@TempDir Path folder) throws Exception {
        try (TmpFs disk = TmpFs.mount(folder, "200k")) {
            SharedFolder store = new SharedFolder(disk.folder());
            assertTrue(store.putIfAbsent("table", OLD));
            Path rest = disk.folder().resolve("rest");
            fill(rest);

            assertThrows(IOException.class, () -> store.put("table", NEW));
            assertThrows(IOException.class, () -> store.putIfAbsent("lease", NEW));

            assertArrayEquals(OLD, store.get("table").orElseThrow());
            assertEquals(Optional.empty(), store.get("lease"));
            try (Stream<Path> files = Files.list(disk.folder())) {
                assertEquals(2, files.count());
            }
            Files.delete(rest);
            store.put("table", NEW);
            assertTrue(store.putIfAbsent("lease", NEW));
            assertFalse(store.putIfAbsent("lease", OLD));
            assertArrayEquals(NEW, store.get("table").orElseThrow());
        }
    }

    private static void fill(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            while (true) {
                out.write(new byte[4096]);
            }
        } catch (IOException e) {
            // There is no room any more.
            assertTrue(Files.size(file) > 0);
        }
    }
}
