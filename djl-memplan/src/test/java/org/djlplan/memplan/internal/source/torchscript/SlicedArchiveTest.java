package org.djlplan.memplan.internal.source.torchscript;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlicedArchiveTest {

    private static final int RECORD_BYTES = 4096;

    @TempDir private Path folder;

    /** Writes an archive with one record and one class. */
    private Path archive(byte[] pickle) throws IOException {
        Path file = folder.resolve("model.pt");
        String code =
                """
                class Linear(Module):
                  weight : Tensor
                  def forward(self: T,
                    x: Tensor) -> Tensor:
                    weight = self.weight
                    return torch.linear(x, weight, None)
                """;
        Map<String, byte[]> entries =
                Map.of(
                        "model/data.pkl",
                        pickle,
                        "model/data/0",
                        new byte[RECORD_BYTES],
                        "model/code/__torch__.py",
                        code.getBytes(StandardCharsets.UTF_8));
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue());
            }
        }
        return file;
    }

    private static void pushText(DataOutputStream pickle, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        pickle.write('X');
        pickle.writeInt(Integer.reverseBytes(bytes.length));
        pickle.write(bytes);
    }

    /** Returns a pickle of the record's tensor, after some other bytes. */
    private static byte[] pickle(String before) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream pickle = new DataOutputStream(bytes)) {
            pickle.write(before.getBytes(StandardCharsets.ISO_8859_1));
            pushText(pickle, "0");
            pushText(pickle, "cpu");
            pickle.write('Q');
        }
        return bytes.toByteArray();
    }

    private int layers(byte[] pickle) throws IOException {
        return SlicedArchive.of(archive(pickle), RECORD_BYTES - 1, RECORD_BYTES / 2).layers();
    }

    @Test
    void of_tensorOfAModule_slicesItsClass() throws Exception {
        assertEquals(1, layers(pickle("c__torch__\nLinear\n\u0081")));
    }

    @Test
    void of_tensorOutsideModules_slicesNothing() throws Exception {
        assertEquals(0, layers(pickle("")));
        assertEquals(0, layers(pickle("c\nLinear\n\u0081")));
    }
}
