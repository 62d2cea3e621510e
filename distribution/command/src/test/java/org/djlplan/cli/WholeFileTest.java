package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.io.ByteSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WholeFileTest {

    private static final String OLD = "what was there before";
    private static final String HALF = "half,";

    @TempDir Path folder;

    private Path file = Path.of("");

    @BeforeEach
    void write() throws IOException {
        file = Files.writeString(folder.resolve("page.html"), OLD);
    }

    /**
     * Writes half of a file, reports this, and writes the other half when it reads a line. A second
     * line would start a second file.
     */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws IOException {
            Path file = Path.of(arguments[0]);
            WholeFile.write(file, new Halves());
            WholeFile.write(file.resolveSibling("second"), "written");
        }
    }

    private static final class Halves extends ByteSource {

        @Override
        public InputStream openStream() {
            return new InputStream() {

                private int next;

                @Override
                public int read() throws IOException {
                    if (next == HALF.length()) {
                        System.out.println("half");
                        System.out.flush();
                        int unused = System.in.read();
                        while (!WholeFile.isAwaited()) {
                            Thread.onSpinWait();
                        }
                    }
                    String all = HALF + HALF;
                    return next < all.length() ? all.charAt(next++) : -1;
                }

                @Override
                public int read(byte[] into, int offset, int length) throws IOException {
                    int value = read();
                    if (value < 0) {
                        return -1;
                    }
                    into[offset] = (byte) value;
                    return 1;
                }
            };
        }
    }

    private List<String> left() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    /**
     * Sets SIGINT to its default, because a shell may start background processes with SIGINT
     * ignored.
     */
    private Process start() throws IOException {
        return new ProcessBuilder(
                        "env",
                        "--default-signal=INT",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void signal(Process process, String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, "" + process.pid()).start();
        assertEquals(0, kill.waitFor());
    }

    /** Waits until the JVM begins to end: from then on it has a thread that runs its hooks. */
    private static void awaitEnding(Process process) throws Exception {
        Path tasks = Path.of("/proc", "" + process.pid(), "task");
        while (process.isAlive() && !names(tasks).contains(WholeFile.HOOK)) {
            Thread.onSpinWait();
        }
        assertTrue(process.isAlive(), "it does not wait for the file");
    }

    private static List<String> names(Path tasks) throws IOException {
        try (Stream<Path> threads = Files.list(tasks)) {
            return threads.map(WholeFileTest::name).toList();
        }
    }

    private static String name(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).strip();
        } catch (IOException e) {
            return ""; // It has ended.
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void signal_whileAFileIsWritten_waitsForItAndBeginsNoOther(String name, int exitCode)
            throws Exception {
        Process process = start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals("half", out.readLine());
        assertEquals(OLD, Files.readString(file));
        assertEquals(2, left().size(), "it is written beside");

        signal(process, name);
        awaitEnding(process);
        assertEquals(OLD, Files.readString(file));
        process.getOutputStream().close();

        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(exitCode, process.exitValue());
        assertEquals(HALF + HALF, Files.readString(file));
        assertEquals(List.of("page.html"), left());
    }

    @Test
    void killed_whileAFileIsWritten_leavesTheOldOne() throws Exception {
        Process process = start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals("half", out.readLine());

        signal(process, "KILL");

        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(OLD, Files.readString(file));
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
