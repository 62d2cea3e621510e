package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
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
    void write_link_replacesWhatItPointsTo() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        WholeFile.write(link, "new");
        assertEquals("new", Files.readString(file));
        assertEquals(List.of("link", "page.html"), left());
        assertEquals(file, Files.readSymbolicLink(link));
    }
}
