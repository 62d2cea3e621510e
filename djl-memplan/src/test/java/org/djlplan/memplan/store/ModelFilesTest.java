package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFilesTest {

    @TempDir Path folder;

    private record Entry(String name, String content) {}

    private static final Entry CODE = new Entry("net/code/__torch__.py", "def forward");
    private static final Entry WEIGHTS = new Entry("net/data/0", "0123");

    private static byte[] archive(long modified, Entry... entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Entry each : entries) {
                byte[] content = each.content.getBytes(StandardCharsets.UTF_8);
                CRC32 crc = new CRC32();
                crc.update(content);
                // TorchScript archives are not compressed.
                ZipEntry entry = new ZipEntry(each.name);
                entry.setMethod(ZipEntry.STORED);
                entry.setSize(content.length);
                entry.setCrc(crc.getValue());
                entry.setTime(modified);
                zip.putNextEntry(entry);
                zip.write(content);
            }
        }
        return bytes.toByteArray();
    }

    private String structure(byte[] archive) throws IOException {
        return ModelFiles.archiveStructure(
                Files.write(Files.createTempFile(folder, "model", ".pt"), archive));
    }

    private String structure(Entry... entries) throws IOException {
        return structure(archive(0, entries));
    }

    @Test
    void archiveStructure_equalEntries_isEqual() throws IOException {
        String one = structure(CODE, WEIGHTS);
        assertEquals(64, one.length());
        assertEquals(one, structure(CODE, WEIGHTS));
        assertEquals(one, structure(archive(1_000_000_000_000L, CODE, WEIGHTS)));
    }

    @Test
    void archiveStructure_anyDifference_isAnother() throws IOException {
        String one = structure(CODE, WEIGHTS);
        assertNotEquals(one, structure(CODE, new Entry(WEIGHTS.name, "0124")));
        assertNotEquals(one, structure(CODE, new Entry(WEIGHTS.name, "01234")));
        assertNotEquals(one, structure(CODE, new Entry("net/data/1", WEIGHTS.content)));
        assertNotEquals(one, structure(CODE));
        assertNotEquals(one, structure(WEIGHTS, CODE));
    }

    @Test
    void archiveStructure_noArchive_throws() throws IOException {
        Path missing = folder.resolve("missing.pt");
        assertThrows(IOException.class, () -> ModelFiles.archiveStructure(missing));
        assertThrows(IOException.class, () -> ModelFiles.archiveStructure(folder));
        for (byte[] content : List.of(new byte[0], new byte[100], new byte[] {'P', 'K', 3, 4})) {
            assertThrows(IOException.class, () -> structure(content));
        }
    }

    @Test
    void archiveStructure_damagedArchive_throwsOrReturns() throws IOException {
        byte[] whole = archive(0, CODE, WEIGHTS);
        Random random = new Random(7);
        int refused = 0;
        for (int round = 0; round < 2000; round++) {
            byte[] damaged = whole.clone();
            for (int i = 0; i <= round % 3; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            if (round % 5 == 0) {
                damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
            }
            try {
                structure(damaged);
            } catch (IOException e) {
                refused++;
            }
        }
        assertNotEquals(0, refused);
    }

    private String sampled(byte[] content) throws IOException {
        return ModelFiles.sampledContent(
                Files.write(Files.createTempFile(folder, "model", ".tflite"), content));
    }

    @Test
    void sampledContent_smallFile_differsWithEveryByte() throws IOException {
        for (int size : List.of(0, 1, 4095, 4096, 4097, 10_000, 64 * 4096)) {
            byte[] content = new byte[size];
            new Random(size).nextBytes(content);
            String one = sampled(content);
            assertEquals(64, one.length());
            assertEquals(one, sampled(content));
            for (int at = 0; at < size; at += 509) {
                content[at] ^= 1;
                assertNotEquals(one, sampled(content), "byte " + at + " of " + size);
                content[at] ^= 1;
            }
            assertNotEquals(one, sampled(Arrays.copyOf(content, size + 1)));
        }
    }

    @Test
    void sampledContent_largeFile_differsWithFirstLastAndSizeAndBlocksBetween() throws IOException {
        int size = 20_000_000;
        byte[] content = new byte[size];
        String one = sampled(content);
        for (int at : List.of(0, 4095, size - 4096, size - 1, (size - 4096) / 63 * 10 + 2000)) {
            content[at] = 1;
            assertNotEquals(one, sampled(content), "byte " + at);
            content[at] = 0;
        }
        content[5000] = 1;
        assertEquals(one, sampled(content), "between two samples");
        assertNotEquals(one, sampled(new byte[size + 1]));
    }

    @Test
    void sampledContent_moreThanAnIntOfBytes_isSampled() throws IOException {
        Path file = folder.resolve("sparse");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(5L << 30);
            String one = ModelFiles.sampledContent(file);
            sparse.seek((5L << 30) - 1);
            sparse.write(1);
            assertNotEquals(one, ModelFiles.sampledContent(file));
        }
    }

    @Test
    void sampledContent_interruptedThread_isRead() throws IOException {
        Path file = Files.write(folder.resolve("model"), new byte[10]);
        Thread.currentThread().interrupt();
        String hash = ModelFiles.sampledContent(file);
        assertTrue(Thread.interrupted());
        assertEquals(ModelFiles.sampledContent(file), hash);
    }

    @Test
    void sampledContent_noFile_throws() {
        assertThrows(IOException.class, () -> ModelFiles.sampledContent(folder));
        Path missing = folder.resolve("missing");
        assertThrows(IOException.class, () -> ModelFiles.sampledContent(missing));
    }
}
