package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
