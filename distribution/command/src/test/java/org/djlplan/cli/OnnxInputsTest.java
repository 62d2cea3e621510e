package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxInputsTest {

    private static final int DAMAGED_FILES = 2000;
    private static final int MOST_CHANGES = 4;

    /**
     * Fields that are messages: of a model its graph, of a graph an input, of an input its type.
     */
    private static final int GRAPH = (7 << 3) | 2;

    private static final int INPUT = (11 << 3) | 2;
    private static final int TYPE = (2 << 3) | 2;
    private static final int TENSOR = (1 << 3) | 2;

    @TempDir Path folder;

    private static byte[] model() throws IOException {
        try (InputStream in = OnnxInputs.class.getResourceAsStream("rehearsal.onnx")) {
            return in.readAllBytes();
        }
    }

    private List<InputSpec> read(byte[] bytes) throws IOException {
        return OnnxInputs.complete(Files.write(folder.resolve("model.onnx"), bytes), List.of());
    }

    @Test
    void complete_damagedFiles_areReadOrRefused() throws IOException {
        byte[] model = model();
        assertEquals(1, read(model).size());
        int refused = 0;
        Random random = new Random(11);
        for (int i = 0; i < DAMAGED_FILES; i++) {
            byte[] damaged = model.clone();
            for (int change = random.nextInt(MOST_CHANGES); change >= 0; change--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            if (random.nextInt(4) == 0) {
                damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
            }
            try {
                assertTrue(!read(damaged).isEmpty());
            } catch (Failure | IllegalArgumentException e) {
                refused++;
            }
        }
        assertTrue(refused > DAMAGED_FILES / 10, refused + " files were refused");
    }

    @Test
    void complete_messagesInMessages_areNotFollowedWithoutEnd() throws IOException {
        byte[] nested = {};
        for (int depth = 0; depth < 20_000; depth++) {
            nested = field(TENSOR, nested);
        }
        byte[] file = field(GRAPH, field(INPUT, field(TYPE, nested)));
        assertThrows(Failure.class, () -> read(file));
    }

    private static byte[] field(int key, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(key);
        int length = content.length;
        for (; length > 0x7F; length >>>= 7) {
            out.write((length & 0x7F) | 0x80);
        }
        out.write(length);
        out.writeBytes(content);
        return out.toByteArray();
    }
}
