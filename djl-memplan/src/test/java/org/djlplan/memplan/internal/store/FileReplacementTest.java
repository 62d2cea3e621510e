package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileReplacementTest {

    @TempDir Path folder;

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns content that writes some bytes and then fails, like a full disk. */
    private static FileReplacement.Content failingAfter(int bytes, Exception failure) {
        return file -> {
            Files.write(file, new byte[bytes]);
            Throwables.throwIfInstanceOf(failure, IOException.class);
            throw (RuntimeException) failure;
        };
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void replace_contentFailsHalfWay_leavesTheOldFileAndNoOther() throws IOException {
        Path file = folder.resolve("plan.json");
        FileReplacement.replace(file, text("old"));
        for (int bytes : List.of(0, 3, 100_000)) {
            FileReplacement.Content full = failingAfter(bytes, new IOException("no space left"));
            assertThrows(IOException.class, () -> FileReplacement.replace(file, full));
            FileReplacement.Content broken = failingAfter(bytes, new IllegalStateException());
            assertThrows(IllegalStateException.class, () -> FileReplacement.replace(file, broken));
        }
        assertEquals("old", Files.readString(file));
        assertEquals(List.of("plan.json"), names());
    }

    @Test
    void replace_targetIsAFolder_leavesNoTemporaryFile() throws IOException {
        Path file = Files.createDirectories(folder.resolve("plan.json/inside")).getParent();
        assertThrows(IOException.class, () -> FileReplacement.replace(file, text("new")));
        assertEquals(List.of("plan.json"), names());
    }

    @Test
    void replace_missingFolder_throws() {
        Path file = folder.resolve("missing/plan.json");
        assertThrows(NoSuchFileException.class, () -> FileReplacement.replace(file, text("new")));
    }

    @Test
    void replace_temporaryFilesOfOthers_removesOnlyAbandonedOnes() throws IOException {
        Duration age = FileReplacement.ABANDONED_AFTER;
        String ours = "other-0123456789abcdef.json.";
        Path abandoned = Files.createFile(folder.resolve(ours + "1.tmp"));
        Files.setLastModifiedTime(
                abandoned, FileTime.from(Instant.now().minus(age).minusSeconds(60)));
        Path beingWritten = Files.createFile(folder.resolve(ours + "2.tmp"));
        Files.setLastModifiedTime(
                beingWritten, FileTime.from(Instant.now().minus(age).plusSeconds(600)));
        Path oldPlan = Files.createFile(folder.resolve("other.json"));
        Files.setLastModifiedTime(oldPlan, FileTime.from(Instant.EPOCH));
        FileReplacement.replace(folder.resolve("plan.json"), text("new"));
        assertEquals(List.of(ours + "2.tmp", "other.json", "plan.json"), names());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "upload-123.tmp",
                "other.json.1.tmp",
                "other-0123456789abcdef.json.tmp",
                "other-0123456789abcdeX.json.1.tmp",
                "other-0123456789abcdef.json.1.tmp.bak",
                "-0123456789abcdef.json.1.tmp",
                ".tmp",
            })
    void replace_oldFileOfAnotherName_isNotTouched(String name) throws IOException {
        Path others = Files.createFile(folder.resolve(name));
        Files.setLastModifiedTime(others, FileTime.from(Instant.EPOCH));
        FileReplacement.replace(folder.resolve("plan.json"), text("new"));
        assertTrue(Files.exists(others));
    }

    @Test
    void replace_linkUnderOurTemporaryName_isNotRemoved() throws IOException {
        Path target = Files.writeString(folder.resolve("others.txt"), "others");
        Files.setLastModifiedTime(target, FileTime.from(Instant.EPOCH));
        Path link =
                Files.createSymbolicLink(
                        folder.resolve("other-0123456789abcdef.json.1.tmp"), target);
        FileReplacement.replace(folder.resolve("plan.json"), text("new"));
        assertTrue(Files.isSymbolicLink(link));
        assertEquals("others", Files.readString(target));
    }

    @Test
    void replace_file_isReadableForWhomOtherFilesAre() throws IOException {
        Path plain = Files.writeString(folder.resolve("plain"), "");
        Path file = folder.resolve("plan.json");
        FileReplacement.replace(file, text("new"));
        assertEquals(Files.getPosixFilePermissions(plain), Files.getPosixFilePermissions(file));
        assertTrue(Files.isReadable(file));
    }
}
