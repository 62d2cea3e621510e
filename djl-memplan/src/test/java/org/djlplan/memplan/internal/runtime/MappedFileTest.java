package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.locks.LockSupport;
import org.djlplan.thirdparty.guava.collect.Iterators;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MappedFileTest {

    @TempDir Path folder;

    @AfterEach
    void nothingIsMapped() {
        assertEquals(0, MappedFile.openCount());
    }

    @Test
    void open_twice_sharesOneMappingUntilBothAreClosed() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "hello");
        MappedFile one = MappedFile.open(file);
        MappedFile two = MappedFile.open(folder.resolve(".").resolve("file"));
        assertEquals(1, MappedFile.openCount());
        assertEquals(one.address(), two.address());
        one.close();
        one.close();
        assertTrue(two.intact());
        assertEquals(ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)), two.bytes());
        two.close();
    }

    @Test
    void again_isReadAndClosed_keepsNoPagesInMemory() throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[1 << 20]).toRealPath();
        try (MappedFile held = MappedFile.open(file)) {
            try (MappedFile reader = held.again()) {
                assertEquals(0, reader.bytes().get(1 << 19));
                assertTrue(residentKilobytes(file) > 0);
            }
            assertEquals(0, residentKilobytes(file));
            assertEquals(0, held.bytes().get(1 << 19), "the pages are read again");
        }
    }

    private static int residentKilobytes(Path file) throws IOException {
        Iterator<String> lines = Files.readAllLines(Path.of("/proc/self/smaps")).iterator();
        while (lines.hasNext()) {
            if (lines.next().endsWith(file.toString())) {
                String rss = Iterators.find(lines, line -> line.startsWith("Rss:"));
                return Integer.parseInt(rss.replaceAll("\\D", ""));
            }
        }
        throw new IOException(file + " is not mapped");
    }

    @Test
    void intact_changedInPlace_isFalseAndTheNextIsMappedAnew() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "hello");
        try (MappedFile old = MappedFile.open(file)) {
            Files.writeString(file, "longer than before");
            assertFalse(old.intact());
            try (MappedFile next = MappedFile.open(file)) {
                assertTrue(next.intact());
                assertEquals(18, next.lengthBytes());
            }
        }
    }

    /** JDK 17 would truncate such a size to an {@code int}. */
    @ParameterizedTest
    @ValueSource(longs = {(1L << 31), (1L << 32) + 10, 5L << 30})
    void open_moreThanABufferHolds_isRefused(long bytes) throws Exception {
        Path file = folder.resolve("file");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(bytes);
        }
        IOException refused = assertThrows(IOException.class, () -> MappedFile.open(file));
        assertEquals(
                file.toRealPath() + ": " + bytes + " bytes, models end at 2 GiB",
                refused.getMessage());
    }

    /** A prediction checks the file while another thread closes the model. */
    @Test
    void intact_closedByAnotherThread_isFalseAndTheProcessLives() throws Exception {
        Path file = Files.write(folder.resolve("model"), new byte[] {1});
        for (int i = 0; i < 2_000; i++) {
            MappedFile mapped = MappedFile.open(file);
            Thread closer = new Thread(mapped::close);
            closer.start();
            while (mapped.intact()) {
                // A thread that checks again at once keeps the other thread from the lock for
                // milliseconds.
                LockSupport.parkNanos(1_000);
            }
            mapped.releasePages();
            assertFalse(mapped.intact());
            closer.join();
        }
        assertEquals(0, MappedFile.openCount());
    }
}
