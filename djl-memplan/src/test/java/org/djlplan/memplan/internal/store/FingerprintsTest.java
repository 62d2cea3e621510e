package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class FingerprintsTest {

    /**
     * One model for each test: new files must rest for a while, and so all rest at the same time.
     */
    private static final int MODELS = 20;

    @TempDir static Path all;

    private static final Deque<Path> FOLDERS = new ArrayDeque<>();

    private Path folder;
    private Path cache;
    private Path model;
    private long readBytes;
    private Fingerprints fingerprints;

    @BeforeAll
    static void writeModels() throws IOException {
        byte[] content = new byte[10_000_000];
        new Random(1).nextBytes(content);
        for (int i = 0; i < MODELS; i++) {
            Path each = Files.createDirectory(all.resolve("model-" + i));
            Files.write(each.resolve("model.tflite"), content);
            FOLDERS.add(each);
        }
    }

    @BeforeEach
    void takeModel() {
        folder = FOLDERS.remove();
        cache = folder.resolve("cache");
        model = folder.resolve("model.tflite");
        fingerprints = new Fingerprints(cache, (file, offset, length) -> readBytes += length);
    }

    private String content() throws IOException {
        return fingerprints.of(model).content();
    }

    private String contentOf(byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve("other"), bytes);
        return fingerprints.of(file).content();
    }

    /** Writes to the file, and resets its modification time. */
    private static void changeInPlace(Path file, long at) throws IOException {
        FileTime modified = Files.getLastModifiedTime(file);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(at);
            int before = open.read();
            open.seek(at);
            open.write(before ^ 1);
        }
        Files.setLastModifiedTime(file, modified);
    }

    /** Replaces the file by another one of the same size and modification time. */
    private static void replace(Path file, long at) throws IOException {
        Path other = file.resolveSibling("replacement");
        Files.copy(
                file,
                other,
                StandardCopyOption.REPLACE_EXISTING,
                StandardCopyOption.COPY_ATTRIBUTES);
        changeInPlace(other, at);
        Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Waits until a fingerprint of the file may be stored. */
    private static void settle(Path file) throws IOException {
        FileIdentity identity = FileIdentity.of(file);
        Await.until(identity::isSettled);
    }

    @Test
    void of_anyByteChanged_isAnother() throws IOException {
        for (int size : List.of(1, 100, 65_536, 65_537, 300_000)) {
            byte[] bytes = new byte[size];
            new Random(size).nextBytes(bytes);
            String one = contentOf(bytes);
            assertEquals(one, contentOf(bytes));
            for (int at = 0; at < size; at += Math.max(1, size / 500)) {
                bytes[at] ^= (byte) (1 << at % 8);
                assertNotEquals(one, contentOf(bytes), "byte " + at + " of " + size);
                bytes[at] ^= (byte) (1 << at % 8);
            }
            assertNotEquals(one, contentOf(Arrays.copyOf(bytes, size + 1)));
        }
        assertEquals("0-0000000000000000", contentOf(new byte[0]));
    }

    @Test
    void of_anyByteChangedInPlaceOrByReplacement_isAnother() throws IOException {
        settle(model);
        Random random = new Random(2);
        String before = content();
        for (int i = 0; i < 40; i++) {
            long at = i == 0 ? 0 : i == 1 ? 9_999_999 : random.nextInt(10_000_000);
            if (i % 2 == 0) {
                changeInPlace(model, at);
            } else {
                replace(model, at);
            }
            String after = content();
            assertNotEquals(before, after, "byte " + at);
            before = after;
        }
    }

    @Test
    void of_settledFile_isReadOnceForAllProcesses() throws IOException {
        settle(model);
        String one = content();
        assertEquals(10_000_000, readBytes);
        Fingerprints other =
                new Fingerprints(
                        cache,
                        (file, offset, length) -> {
                            throw new AssertionError("read again");
                        });
        assertEquals(one, other.of(model).content());
    }

    @Test
    void of_fileChangedJustNow_isReadAgain() throws IOException {
        Files.setLastModifiedTime(model, FileTime.from(Instant.now()));
        String one = content();
        assertEquals(one, content());
        assertEquals(20_000_000, readBytes);
    }

    @Test
    void of_timesInTheFuture_isReadAgain() throws IOException {
        settle(model);
        Files.setLastModifiedTime(model, FileTime.from(Instant.now().plusSeconds(1000)));
        String one = content();
        assertEquals(one, content());
        assertEquals(20_000_000, readBytes);
    }

    @Test
    void of_link_isTheFilesItLeadsTo() throws IOException {
        settle(model);
        Path link = Files.createSymbolicLink(folder.resolve("link.tflite"), model);
        assertEquals(content(), fingerprints.of(link).content());
        assertEquals(10_000_000, readBytes);
        changeInPlace(model, 1234);
        assertEquals(content(), fingerprints.of(link).content());
    }

    /** A fingerprint in the model's folder is not trusted. */
    @Test
    void of_fingerprintBesideTheModel_isNotUsed() throws IOException {
        settle(model);
        String one = content();
        changeInPlace(model, 77);
        Path beside = Files.createDirectory(folder.resolve(".djlplan"));
        for (Path file : remembered()) {
            Files.move(file, beside.resolve(file.getFileName()));
        }
        assertNotEquals(one, content());
    }

    private List<Path> remembered() throws IOException {
        try (Stream<Path> all = Files.list(cache.resolve("fingerprints"))) {
            return all.toList();
        }
    }

    @Test
    void of_rememberedIsDamagedOrALink_isReadAgain() throws IOException {
        settle(model);
        String one = content();
        Path file = remembered().get(0);
        byte[] good = Files.readAllBytes(file);
        for (byte[] bad : List.of(new byte[0], new byte[] {'{'}, new byte[100])) {
            Files.write(file, bad);
            readBytes = 0;
            assertEquals(one, content());
            assertEquals(10_000_000, readBytes);
        }
        Path elsewhere = Files.write(folder.resolve("elsewhere"), good);
        Files.delete(file);
        Files.createSymbolicLink(file, elsewhere);
        readBytes = 0;
        assertEquals(one, content());
        assertEquals(10_000_000, readBytes);
    }

    @Test
    void of_cacheCannotBeWritten_isReadEachTime() throws IOException {
        settle(model);
        Files.createFile(cache);
        String one = content();
        assertEquals(one, content());
        assertEquals(20_000_000, readBytes);
    }

    @Test
    void of_fileChangesOnceWhileRead_isOfTheNewContent() throws IOException {
        int[] reads = {0};
        Fingerprints changing =
                new Fingerprints(
                        cache,
                        (file, offset, length) -> {
                            if (reads[0]++ == 0) {
                                change(100);
                            }
                        });
        assertEquals(changing.of(model).content(), content());
    }

    @Test
    void of_fileChangesWheneverItIsRead_throws() {
        Fingerprints changing = new Fingerprints(cache, (file, offset, length) -> change(offset));
        IOException e = assertThrows(IOException.class, () -> changing.of(model));
        assertTrue(e.getMessage().contains("changes while it is read"), e.getMessage());
    }

    private void change(long at) {
        try {
            changeInPlace(model, at);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void of_manyFiles_remembersTheLatest() throws IOException {
        Path old = Files.createDirectories(cache.resolve("fingerprints"));
        for (int i = 0; i < 1100; i++) {
            Path file = Files.createFile(old.resolve("file-%016x.fingerprint.json".formatted(i)));
            Files.setLastModifiedTime(file, FileTime.from(i, TimeUnit.SECONDS));
        }
        settle(model);
        String unused = content();
        assertEquals(1024, remembered().size());
        readBytes = 0;
        unused = content();
        assertEquals(0, readBytes);
    }

    @Test
    void ofMade_fileChangedSince_isAnother() throws IOException {
        Fingerprint made = fingerprints.ofMade(model);
        assertEquals(made, fingerprints.of(model));
        assertEquals(10_000_000, readBytes, "read once");
        Await.until(() -> isAfter(made.identity()));
        changeInPlace(model, 4711);
        assertNotEquals(made, fingerprints.of(model));
    }

    /** Returns whether a change now would have another time. */
    private boolean isAfter(FileIdentity identity) {
        try {
            Path other = Files.write(folder.resolve("clock"), new byte[1]);
            return FileIdentity.of(other).changedNanos() > identity.changedNanos();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void requireUnchanged_changedOrReplaced_throws() throws IOException {
        settle(model);
        Fingerprint fingerprint = fingerprints.of(model);
        fingerprint.requireUnchanged(model);
        replace(model, 5);
        assertThrows(IOException.class, () -> fingerprint.requireUnchanged(model));
        settle(model);
        Fingerprint next = fingerprints.of(model);
        changeInPlace(model, 5);
        assertThrows(IOException.class, () -> next.requireUnchanged(model));
    }

    @Test
    void of_moreThanAnIntOfBytes_isRead() throws IOException {
        long size = (1L << 31) + 5;
        try (RandomAccessFile sparse = new RandomAccessFile(model.toFile(), "rw")) {
            sparse.setLength(0);
            sparse.seek(size - 1);
            sparse.write(1);
        }
        CRC32 crc = new CRC32();
        CRC32C other = new CRC32C();
        byte[] zeros = new byte[1 << 20];
        for (Checksum each : List.of(crc, other)) {
            for (long done = 0; done < size - 1; ) {
                int length = (int) Math.min(zeros.length, size - 1 - done);
                each.update(zeros, 0, length);
                done += length;
            }
            each.update(1);
        }
        FileIdentity identity = FileIdentity.of(model);
        assertEquals(
                Fingerprint.of(identity, crc.getValue(), other.getValue()).content(), content());
    }

    @Test
    void of_interruptedThread_isRead() throws IOException {
        Thread.currentThread().interrupt();
        String one = content();
        assertTrue(Thread.interrupted());
        assertEquals(content(), one);
    }

    @Test
    void of_noFile_throws() {
        assertThrows(IOException.class, () -> fingerprints.of(folder));
        Path missing = folder.resolve("missing");
        assertThrows(IOException.class, () -> fingerprints.of(missing));
        assertTrue(Files.notExists(cache, LinkOption.NOFOLLOW_LINKS));
    }
}
