package org.djlplan.memplan.internal.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryFileTest {

    private static final int THREADS = 8;
    private static final String NAME = "libsample.so";

    @TempDir Path folder;

    private final byte[] content = new byte[100_000];
    private URL inJar;

    @BeforeEach
    void pack() throws IOException {
        content[content.length - 1] = 1;
        inJar = jar("sample.jar", content);
    }

    private URL jar(String name, byte[] bytes) throws IOException {
        Path jar = folder.resolve(name);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            zip.putNextEntry(new ZipEntry("lib/" + NAME));
            zip.write(bytes);
        }
        return URI.create("jar:" + jar.toUri() + "!/lib/" + NAME).toURL();
    }

    @Test
    void copied_fromJar_isTheContentUnderItsName() throws IOException {
        Path copy = LibraryFile.copied(inJar, folder.resolve("cache"));
        assertEquals(NAME, copy.getFileName().toString());
        assertArrayEquals(content, Files.readAllBytes(copy));
        assertEquals(copy, LibraryFile.copied(inJar, folder.resolve("cache")));
    }

    @Test
    void copied_otherContent_isAnotherFile() throws IOException {
        Path copy = LibraryFile.copied(inJar, folder.resolve("cache"));
        content[0] = 1;
        Path other = LibraryFile.copied(jar("other.jar", content), folder.resolve("cache"));
        assertNotEquals(copy, other);
        assertArrayEquals(content, Files.readAllBytes(other));
    }

    @Test
    void copied_fromFolder_isTheSameFileAsFromJar() throws IOException {
        Path file = Files.write(folder.resolve(NAME), content);
        assertEquals(
                LibraryFile.copied(inJar, folder.resolve("cache")),
                LibraryFile.copied(file.toUri().toURL(), folder.resolve("cache")));
    }

    @Test
    void copied_byManyAtOnce_leavesOneFile() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<Path>> copies = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                copies.add(
                        threads.submit(() -> LibraryFile.copied(inJar, folder.resolve("cache"))));
            }
            for (Future<Path> copy : copies) {
                assertArrayEquals(content, Files.readAllBytes(copy.get()));
            }
        } finally {
            threads.shutdown();
        }
        try (Stream<Path> files = Files.walk(folder.resolve("cache"))) {
            assertEquals(1, files.filter(Files::isRegularFile).count());
        }
    }

    /** Otherwise the file would be deleted that another process has loaded. */
    @Test
    void name_anotherWasFirst_keepsItsFile() throws IOException {
        Path copy = LibraryFile.copied(inJar, folder.resolve("cache"));
        Object first = Files.readAttributes(copy, BasicFileAttributes.class).fileKey();
        LibraryFile.name(Files.write(folder.resolve("library.part"), content), copy);
        assertEquals(first, Files.readAttributes(copy, BasicFileAttributes.class).fileKey());
    }

    @Test
    void name_complete_isTheCopy() throws IOException {
        Path copy = folder.resolve(NAME);
        LibraryFile.name(Files.write(folder.resolve("library.part"), content), copy);
        assertArrayEquals(content, Files.readAllBytes(copy));
    }

    @Test
    void copied_noFolderCanBeMade_fails() throws IOException {
        Path file = Files.createFile(folder.resolve("cache"));
        assertThrows(IOException.class, () -> LibraryFile.copied(inJar, file));
    }
}
