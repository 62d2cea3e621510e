package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.io.Resources;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that bad files are rejected, with a message that names the defect and its position.
 *
 * <p>{@code tflite/bad} holds damaged copies of small models, each with one defect that its name
 * states, and {@code messages.txt} with the expected messages.
 */
class TfLiteReaderTest {

    @TempDir Path folder;

    static List<String> messages() {
        return Splitter.on('\n').omitEmptyStrings().splitToList(text("messages.txt"));
    }

    private static String text(String resource) {
        return new String(bytes(resource), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String resource) {
        try {
            return Resources.toByteArray(Resources.getResource("tflite/bad/" + resource));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("messages")
    void read_badFile_namesErrorAndPosition(String message) {
        String name = message.substring(0, message.indexOf(':'));
        ByteBuffer file = ByteBuffer.wrap(bytes(name + ".tflite"));
        TfLiteFormatException e =
                assertThrows(TfLiteFormatException.class, () -> TfLiteReader.read(file, name));
        assertEquals(message, e.getMessage());
    }

    @Test
    void messages_badFiles_haveOneEach() throws Exception {
        Path resources = Path.of(Resources.getResource("tflite/bad/messages.txt").toURI());
        try (var files = Files.list(resources.getParent())) {
            assertEquals(messages().size(), files.count() - 1);
        }
    }

    @Test
    void read_missingFile_failsWithMessage() {
        assertMessage(folder.resolve("missing.tflite"), "no such file");
    }

    @Test
    void read_folder_failsWithMessage() {
        assertMessage(folder, "not a regular file");
    }

    @Test
    void read_emptyFile_failsWithMessage() throws IOException {
        assertMessage(Files.createFile(folder.resolve("empty.tflite")), "0 bytes are too few");
    }

    @Test
    void read_fileOfTwoGibibytes_failsWithMessage() throws IOException {
        Path large = folder.resolve("large.tflite");
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
            file.setLength(1L << 31); // sparse: takes no space
        }
        assertMessage(large, "2147483648 bytes, flatbuffers end at 2 GiB");
    }

    private static void assertMessage(Path file, String problem) {
        TfLiteFormatException e =
                assertThrows(TfLiteFormatException.class, () -> TfLiteReader.read(file));
        assertTrue(e.getMessage().startsWith(file + ": "), e.getMessage());
        assertTrue(e.getMessage().contains(problem), e.getMessage());
    }
}
