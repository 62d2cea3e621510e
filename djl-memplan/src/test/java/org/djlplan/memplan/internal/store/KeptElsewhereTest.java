package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.junit.jupiter.api.Test;

/** Tests which values from a folder or an archive are used, and which are rejected. */
class KeptElsewhereTest extends StoreFixture {

    /** Copies the small plan into an existing folder and returns its file. */
    private Path copiedTo(Path target) throws IOException {
        store.copyTo(target, KEY, small());
        return files(target).get(0);
    }

    private static KeptElsewhere<WeightTrace> in(Path location) {
        return new KeptElsewhere<>(FORMAT, location);
    }

    @Test
    void load_copiedIntoAFolder_isFound() throws IOException {
        Path target = Files.createDirectory(folder.resolve("target"));
        copiedTo(target);
        assertEquals(small(), in(target).load(KEY).orElseThrow());
        store.copyTo(target, KEY, SampleTraces.ofSize(7));
        assertEquals(1, files(target).size(), "the first one is replaced");
        assertEquals(SampleTraces.ofSize(7), in(target).load(KEY).orElseThrow());
    }

    @Test
    void copyTo_folderMissing_fails() {
        assertThrows(
                NoSuchFileException.class,
                () -> store.copyTo(folder.resolve("missing"), KEY, small()));
    }

    /** The file is truncated, or has another key. */
    @Test
    void load_damaged_warnsOnceAndIsEmpty() throws IOException {
        Path file = copiedTo(Files.createDirectory(folder.resolve("target")));
        KeptElsewhere<WeightTrace> elsewhere = in(file.getParent());
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length - 1; length += 37) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertEquals(Optional.empty(), elsewhere.load(KEY));
        }
        StoreKey other = SampleTraces.key("resnet18", "2:float32");
        Files.write(file, FORMAT.toBytes(other, small()));
        assertEquals(Optional.empty(), elsewhere.load(KEY));
        assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
    }

    @Test
    void load_linkInTheFolder_isNotFollowed() throws IOException {
        Path file = copiedTo(Files.createDirectory(folder.resolve("secret")));
        Path target = Files.createDirectory(folder.resolve("target"));
        Files.createSymbolicLink(target.resolve(file.getFileName()), file);
        assertEquals(Optional.empty(), in(target).load(KEY));
        assertEquals(List.of(), log.lines("WARN"));
    }

    /** A small archive can expand to any number of bytes, which a load must not read to the end. */
    @Test
    void load_archiveAboveTheLimit_fails() throws IOException {
        Path plan = copiedTo(Files.createDirectory(folder.resolve("target")));
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
        assertEquals(
                small(), new KeptElsewhere<>(FORMAT, archive, 2 << 20).load(KEY).orElseThrow());
        assertThrows(
                IOException.class,
                () -> new KeptElsewhere<>(FORMAT, archive, zeros.length).load(KEY));
    }
}
