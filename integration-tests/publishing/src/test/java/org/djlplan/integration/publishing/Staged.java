package org.djlplan.integration.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The repositories that {@code stage.sh} makes. */
final class Staged {

    static final Path TARGET = Path.of("target").toAbsolutePath();
    static final Path REPOSITORY = TARGET.resolve("staged");

    /** The same release, built once more in another folder and not signed. */
    static final Path AGAIN = TARGET.resolve("again");

    static final Path OURS = Path.of("org", "djlplan");

    private Staged() {}

    /** Returns the version of all artifacts. */
    static String version() throws IOException {
        List<Path> versions = folders(REPOSITORY.resolve(OURS).resolve("djl-memplan"));
        assertEquals(1, versions.size(), "run stage.sh first: " + versions);
        return versions.get(0).getFileName().toString();
    }

    /** Returns a file of an artifact by the end of its name, after the version. */
    static Path file(String artifact, String suffix) throws IOException {
        String version = version();
        return REPOSITORY
                .resolve(OURS)
                .resolve(artifact)
                .resolve(version)
                .resolve(artifact + "-" + version + suffix);
    }

    static List<Path> folders(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    /** Returns the files below a folder, relative to it. */
    static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).map(folder::relativize).sorted().toList();
        }
    }
}
