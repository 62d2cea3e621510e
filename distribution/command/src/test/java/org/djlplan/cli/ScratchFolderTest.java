package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchFolderTest {

    @TempDir Path temporary;

    /**
     * A program that makes a folder with a file, and ends when its standard input closes or a
     * signal arrives.
     */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws IOException {
            try (ScratchFolder folder = ScratchFolder.create("djlplan-scratch")) {
                Files.writeString(folder.path().resolve("outputs"), "half of them");
                System.out.println(folder.path());
                System.out.flush();
                int unused = System.in.read();
            }
        }
    }

    private Process start() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Path folder(Process process) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        Path folder = Path.of(out.readLine());
        assertTrue(Files.isRegularFile(folder.resolve("outputs")), "it is not in use");
        return folder;
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.toList();
        }
    }

    @Test
    void terminated_leavesNothing() throws Exception {
        Process process = start();
        Path folder = folder(process);
        assertEquals(List.of(folder), left());

        // Only sends a signal. The process's input stays open, because it would also end when its
        // input ends.
        assertTrue(process.toHandle().destroy());

        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertNotEquals(0, process.exitValue());
        assertEquals(List.of(), left());
    }

    @Test
    void close_filesInIt_deletesAll() throws IOException {
        Path path;
        try (ScratchFolder folder = ScratchFolder.create("djlplan-scratch")) {
            path = folder.path();
            Files.writeString(Files.createDirectory(path.resolve("inner")).resolve("file"), "text");
        }
        assertFalse(Files.exists(path));
    }
}
