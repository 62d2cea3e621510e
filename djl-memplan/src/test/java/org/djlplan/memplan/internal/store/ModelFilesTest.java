package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
}
