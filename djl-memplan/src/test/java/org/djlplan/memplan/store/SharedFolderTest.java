package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder that machines share, and what of it is believed. */
class SharedFolderTest {

    private static final String NAME = "net-0123456789abcdef.v3.profile.json";

    @TempDir Path folder;
    private SharedFolder store;

    @BeforeEach
    void makeStore() {
        store = new SharedFolder(folder);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    @Test
    void putIfAbsent_there_staysAsItIs() throws IOException {
        assertEquals(Optional.empty(), store.get(NAME));
        assertTrue(store.putIfAbsent(NAME, bytes(1)));
        assertFalse(store.putIfAbsent(NAME, bytes(2)));
        assertArrayEquals(bytes(1), store.get(NAME).orElseThrow());
        store.put(NAME, bytes(3, 4));
        assertArrayEquals(bytes(3, 4), store.get(NAME).orElseThrow());
        assertEquals(List.of(NAME), names(), "nothing temporary is left");
    }

    /** As where a network's folder is not mounted: nothing is made in its place. */
    @Test
    void all_folderMissing_fail() {
        Path missing = folder.resolve("mount");
        SharedFolder nowhere = new SharedFolder(missing);
        assertThrows(IOException.class, () -> nowhere.get(NAME));
        assertThrows(IOException.class, () -> nowhere.put(NAME, bytes(1)));
        assertThrows(IOException.class, () -> nowhere.putIfAbsent(NAME, bytes(1)));
        assertFalse(Files.exists(missing));
    }

    @Test
    void get_linkFolderOrTooLarge_fails() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "text");
        Files.createSymbolicLink(folder.resolve(NAME), secret);
        assertThrows(IOException.class, () -> store.get(NAME));
        assertFalse(store.putIfAbsent(NAME, bytes(1)));
        assertThrows(IOException.class, () -> store.put(NAME, bytes(1)));
        assertEquals("text", Files.readString(secret));
        Files.createDirectory(folder.resolve("folder"));
        assertThrows(IOException.class, () -> store.get("folder"));
        try (RandomAccessFile large =
                new RandomAccessFile(folder.resolve("large").toFile(), "rw")) {
            large.setLength(SharedStore.MOST_BYTES + 1L);
        }
        assertThrows(IOException.class, () -> store.get("large"));
    }

    @Test
    void isTemporary_whatAKilledWriterLeaves_isRemovedSomeDay() {
        for (String name : List.of(NAME, NAME + ".lease.1", NAME + ".lease.64")) {
            Path temporary = FileReplacement.temporary(folder.resolve(name));
            assertTrue(ReadableNames.isTemporary(temporary.getFileName().toString()), name);
        }
    }

    private SharedValues<StoredPlan> values(SharedStore of) {
        return new SharedValues<>(of, new PlanCodec());
    }

    @Test
    void offer_another_theFirstStays() throws IOException {
        assertTrue(values(store).offer(SamplePlans.KEY, SamplePlans.small()));
        assertFalse(values(store).offer(SamplePlans.KEY, SamplePlans.ofSize(7)));
        SamplePlans.assertSame(
                SamplePlans.small(), values(store).load(SamplePlans.KEY).orElseThrow());
        values(store).save(SamplePlans.KEY, SamplePlans.ofSize(7));
        SamplePlans.assertSame(
                SamplePlans.ofSize(7), values(store).load(SamplePlans.KEY).orElseThrow());
    }

    /** Damaged, half written, of another key, of another version: never believed. */
    @Test
    void load_damaged_isToldOnceAndEmpty() throws IOException {
        values(store).save(SamplePlans.KEY, SamplePlans.small());
        Path file = folder.resolve(names().get(0));
        byte[] whole = Files.readAllBytes(file);
        StoreKey other = SamplePlans.key("resnet18", "2:float32");
        try (LogCapture log = new LogCapture()) {
            for (int length = 0; length < whole.length - 1; length += 37) {
                Files.write(file, java.util.Arrays.copyOf(whole, length));
                assertEquals(Optional.empty(), values(store).load(SamplePlans.KEY));
            }
            Files.write(file, SamplePlans.FORMAT.toBytes(other, SamplePlans.small()));
            assertEquals(Optional.empty(), values(store).load(SamplePlans.KEY));
            assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
        }
    }

    @Test
    void load_whatASharedFolderHas_isReadElsewhere() throws IOException {
        values(store).save(SamplePlans.KEY, SamplePlans.small());
        SamplePlans.assertSame(
                SamplePlans.small(),
                new KeptElsewhere<>(new PlanCodec(), folder, "folder")
                        .load(SamplePlans.KEY)
                        .orElseThrow());
    }

    /** A few bytes of an archive may stand for any number, which nobody is to wait for. */
    @Test
    void load_archiveOfMoreThanThereMayBe_isAnError() throws IOException {
        values(store).save(SamplePlans.KEY, SamplePlans.small());
        Path plan = folder.resolve(names().get(0));
        Path archive = folder.resolve("archive.tar.gz");
        byte[] zeros = new byte[1 << 20];
        try (TarArchiveOutputStream tar =
                new TarArchiveOutputStream(new GZIPOutputStream(Files.newOutputStream(archive)))) {
            TarArchiveEntry first = new TarArchiveEntry("net.tflite");
            first.setSize(zeros.length);
            tar.putArchiveEntry(first);
            tar.write(zeros);
            tar.closeArchiveEntry();
            tar.putArchiveEntry(new TarArchiveEntry(plan.toFile(), plan.getFileName().toString()));
            Files.copy(plan, tar);
            tar.closeArchiveEntry();
        }
        SamplePlans.assertSame(
                SamplePlans.small(),
                new KeptElsewhere<>(new PlanCodec(), archive, "archive", 2 << 20)
                        .load(SamplePlans.KEY)
                        .orElseThrow());
        assertThrows(
                IOException.class,
                () ->
                        new KeptElsewhere<>(new PlanCodec(), archive, "archive", zeros.length)
                                .load(SamplePlans.KEY));
    }
}
