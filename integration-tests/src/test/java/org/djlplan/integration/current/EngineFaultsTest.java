package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.CurrentTfLite;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.TmpFs;
import org.djlplan.integration.tflite.Probe;
import org.djlplan.thirdparty.guava.primitives.Bytes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests djl-plan's TFLite engine with invalid model files, and without a loadable library: an error
 * with the reason, never a crash. Each case has its own JVM.
 */
@Tag("djl-current")
@Tag("long")
class EngineFaultsTest {

    /** The damaged files that the reader of {@code djl-memplan} is tested with. */
    private static final Path DAMAGED = Path.of("../djl-memplan/src/test/resources/tflite/bad");

    private static final String ERROR =
            "(TfLiteFormatException|InvalidModelException|MalformedModelException) .*";

    private static final Path SOUND = TestModels.built("chains");

    @TempDir Path folder;

    @Test
    void load_damagedFiles_areErrorsOfTheReaderPlannedAndNot() throws Exception {
        List<String> arguments = new ArrayList<>(List.of("load"));
        try (Stream<Path> damaged = Files.list(DAMAGED)) {
            damaged.filter(file -> file.toString().endsWith(".tflite"))
                    .sorted()
                    .forEach(file -> arguments.add(file.toAbsolutePath().normalize().toString()));
        }
        assertTrue(arguments.size() > 40, arguments.toString());
        ChildJvm.Result result =
                new ChildJvm(folder).run(Probe.class, arguments.toArray(String[]::new));
        assertEquals(0, result.exitCode(), result.printed());
        List<String> lines = result.out().lines().toList();
        assertEquals(2 * (arguments.size() - 1), lines.size(), result.out());
        for (int i = 0; i < lines.size(); i += 2) {
            String unplanned = lines.get(i).substring("stock ".length());
            assertEquals(unplanned, lines.get(i + 1).substring("planned ".length()));
            assertTrue(unplanned.matches(ERROR), unplanned);
        }
    }

    /** Returns the message with which a request for the engine fails. */
    private String failure(String... options) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder).options(options).run(Probe.class, "zeros", SOUND.toString());
        assertEquals(1, result.exitCode(), result.printed());
        return result.err()
                .lines()
                .filter(line -> line.contains("ai.djl.engine.EngineException: "))
                .findFirst()
                .orElseThrow(() -> new AssertionError(result.printed()));
    }

    private static void assertContains(String text, String part) {
        assertTrue(text.contains(part), text);
    }

    @Test
    void load_fullDisk_saysWhereRoomIsNeededAndLeavesNoPart() throws Exception {
        try (TmpFs small = TmpFs.mount(Files.createDirectory(folder.resolve("small")), "4m")) {
            String message = failure("-DENGINE_CACHE_DIR=" + small.folder());
            assertContains(message, "cannot be copied to " + small.folder());
            assertContains(message, "let ENGINE_CACHE_DIR name a folder with room");
            assertEquals(List.of(), filesIn(small.folder()));
            small.resize("40m");
            ChildJvm.Result result =
                    new ChildJvm(folder)
                            .options("-DENGINE_CACHE_DIR=" + small.folder())
                            .run(Probe.class, "zeros", SOUND.toString());
            assertEquals("2 outputs", result.out().trim(), result.printed());
            assertEquals(1, filesIn(small.folder()).size());
        }
    }

    private static List<Path> filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> file.toString().contains("tensorflowlite"))
                    .toList();
        }
    }

    @Test
    void load_readOnlyCache_failsWithMessage() throws Exception {
        try (TmpFs readOnly =
                TmpFs.mount(Files.createDirectory(folder.resolve("fixed")), "1m,ro")) {
            String message = failure("-DENGINE_CACHE_DIR=" + readOnly.folder());
            assertContains(message, "cannot be copied to " + readOnly.folder());
            assertContains(message, "that can be written to");
        }
    }

    @Test
    void load_invalidLibraryPath_namesThePath() throws Exception {
        Path absent = folder.resolve("libtensorflowlite_jni.so");
        String given = "-DTFLITE_LIBRARY_PATH=" + absent;
        assertContains(failure(given), "TFLITE_LIBRARY_PATH=" + absent + ": no file");
        Files.writeString(absent, "no library");
        assertContains(failure(given), "the native library of TensorFlow Lite cannot be loaded: ");
        Path otherwise = Files.copy(absent, folder.resolve("libother.so"));
        assertContains(
                failure("-DTFLITE_LIBRARY_PATH=" + otherwise),
                "TFLITE_LIBRARY_PATH=" + otherwise + ": no file that is named as in the jars");
    }

    /** Imitates a future release: the library in the jar reports another version. */
    @Test
    void load_libraryOfAnUnknownVersion_isRefusedAndNamesThoseThatAreKnown() throws Exception {
        Path unknown = folder.resolve("libjnitensorflowlite.so");
        byte[] library = Files.readAllBytes(CurrentTfLite.load());
        byte[] version = "\0002.21.0\0".getBytes(StandardCharsets.ISO_8859_1);
        int found = 0;
        for (int at = Bytes.indexOf(library, version); at >= 0; ) {
            library[at + 3] = '9';
            found++;
            at = Bytes.indexOf(library, version);
        }
        assertEquals(1, found);
        Files.write(unknown, library);
        String message = failure("-DTFLITE_LIBRARY_PATH=" + unknown);
        assertContains(
                message, "TensorFlow Lite 2.91.0 is not supported, only 2.6.2, 2.20.0, 2.21.0");
    }
}
