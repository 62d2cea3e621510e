package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.io.ByteSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WholeFileTest {

    private static final String OLD = "what was there before";

    @TempDir Path folder;

    private Path file = Path.of("");

    @BeforeEach
    void write() throws IOException {
        file = Files.writeString(folder.resolve("page.html"), OLD);
    }

    private List<String> left() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void check_folderThatIsNotWritable_isRefusedEvenForAWritableFile() throws IOException {
        WholeFile.check(file);
        WholeFile.check(Path.of("/dev/null"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
        assumeFalse(Files.isWritable(folder), "root may write everywhere");
        Failure e = assertThrows(Failure.class, () -> WholeFile.check(file));
        assertEquals("cannot write into the folder " + folder.toRealPath(), e.getMessage());
    }

    @Test
    void write_fails_leavesTheOldFileAndNothingElse() throws IOException {
        ByteSource failing =
                new ByteSource() {
                    @Override
                    public InputStream openStream() throws IOException {
                        throw new IOException("no more");
                    }
                };
        try {
            WholeFile.write(file, failing);
        } catch (IOException e) {
            assertEquals("no more", e.getMessage());
        }
        assertEquals(OLD, Files.readString(file));
        assertEquals(List.of("page.html"), left());
        WholeFile.write(file, "new");
        assertEquals("new", Files.readString(file));
    }
}
