package org.djlplan.memplan.internal.planning.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoadedFileTest {

    private static final String CONTENT = "a model";
    private static final String OTHER = "another";

    @TempDir Path folder;
    private Path file;
    private LoadedFile loaded;

    @BeforeEach
    void load() throws IOException {
        file = Files.writeString(folder.resolve("model"), CONTENT);
        loaded = new LoadedFile(file, new Fingerprints(folder));
    }

    @AfterEach
    void close() {
        loaded.close();
    }

    private void replaceBy(String content) throws IOException {
        Path next = Files.writeString(folder.resolve("next"), content);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    }

    private void assertReplaced() {
        for (int i = 0; i < 2; i++) {
            assertEquals(
                    file + " was replaced since it was loaded; load it again",
                    assertThrows(IOException.class, loaded::requireSame).getMessage());
        }
        assertEquals(CONTENT.length(), loaded.bytes());
    }

    @Test
    void fingerprint_fileUnchanged_isOfTheFile() throws IOException {
        assertEquals(new Fingerprints(folder).of(file), loaded.fingerprint());
        loaded.requireSame();
        assertEquals(CONTENT.length(), loaded.bytes());
    }

    @Test
    void requireSame_fileReplaced_throws() throws IOException {
        replaceBy(OTHER);
        assertReplaced();
    }

    @Test
    void map_fileReplacedOrDeleted_isOfTheLoadedFile() throws Exception {
        String content = new Fingerprints(folder).of(file).content();
        replaceBy(OTHER);
        assertEquals(content, loaded.fingerprint().content());
        assertMapped();
        Files.delete(file);
        assertEquals(content, loaded.fingerprint().content());
        assertMapped();
    }

    private void assertMapped() throws Exception {
        try (MappedFile mapping = loaded.map()) {
            assertEquals(CONTENT, StandardCharsets.US_ASCII.decode(mapping.bytes()).toString());
            loaded.requireUnwritten(loaded.fingerprint(), mapping);
        }
    }

    @Test
    void map_fileChangedInPlace_throws() throws IOException {
        Files.writeString(file, OTHER + OTHER);
        assertThrows(IOException.class, loaded::map);
        assertThrows(IOException.class, loaded::fingerprint);
    }

    @Test
    void map_onlyTimeChanged_isOfTheFile() throws Exception {
        Fingerprint unused = loaded.fingerprint();
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
        assertMapped();
    }

    @Test
    void requireSame_fileReplacedLater_throwsUntilItIsBack() throws IOException {
        Fingerprint before = loaded.fingerprint();
        replaceBy(OTHER);
        assertReplaced();
        assertEquals(before, loaded.fingerprint());
        replaceBy(CONTENT);
        loaded.requireSame();
        Fingerprint again = loaded.fingerprint();
        assertEquals(before.content(), again.content());
        again.requireUnchanged(file);
    }

    @Test
    void requireSame_onlyPermissionsChanged_passes() throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
        loaded.requireSame();
        loaded.fingerprint().requireUnchanged(file);
    }

    @Test
    void requireSame_fileDeleted_throws() throws IOException {
        Files.delete(file);
        assertThrows(NoSuchFileException.class, loaded::requireSame);
    }
}
