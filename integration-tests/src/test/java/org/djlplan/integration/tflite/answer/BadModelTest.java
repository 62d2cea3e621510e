package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.tflite.Probe;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests invalid model files: an error with the reason, never a crash. Each case has its own JVM.
 */
class BadModelTest {

    /** The damaged files that the reader of {@code djl-memplan} is tested with. */
    private static final Path DAMAGED = Path.of("../djl-memplan/src/test/resources/tflite/bad");

    @TempDir static Path folder;

    @BeforeAll
    static void writeFiles() throws Exception {
        byte[] good = Files.readAllBytes(TestModels.built("blaze_face"));
        byte[] noise = new byte[5000];
        new Random(1).nextBytes(noise);
        Files.write(folder.resolve("noise.tflite"), noise);
        System.arraycopy("TFL3".getBytes(StandardCharsets.US_ASCII), 0, noise, 4, 4);
        Files.write(folder.resolve("noise_named_tfl3.tflite"), noise);
        Files.write(folder.resolve("half.tflite"), Arrays.copyOf(good, good.length / 2));
        Files.write(folder.resolve("empty.tflite"), new byte[0]);
        Files.createDirectory(folder.resolve("folder.tflite"));
        TfLiteWriter.write(OddModels.customOperator(), folder.resolve("custom.tflite"));
        TfLiteWriter.write(OddModels.dynamicInside(), folder.resolve("dynamic.tflite"));
    }

    /**
     * Every damaged file loads, or fails to load, exactly as in stock; models that load predict as
     * in stock.
     */
    @Test
    void load_damagedFiles_endAsInStock() throws Exception {
        List<String> files = new ArrayList<>();
        try (Stream<Path> damaged = Files.list(DAMAGED)) {
            damaged.filter(file -> file.toString().endsWith(".tflite"))
                    .sorted()
                    .forEach(file -> files.add(file.toAbsolutePath().normalize().toString()));
        }
        assertTrue(files.size() > 40, files.toString());
        for (String own : List.of("noise", "noise_named_tfl3", "half", "empty", "folder")) {
            files.add(folder.resolve(own + ".tflite").toString());
        }
        List<String> arguments = new ArrayList<>(List.of("load"));
        arguments.addAll(files);
        ChildJvm.Result result =
                new ChildJvm(folder).run(Probe.class, arguments.toArray(String[]::new));
        assertEquals(0, result.exitCode(), result.out() + result.err());
        List<String> lines = result.out().lines().toList();
        assertEquals(2 * files.size(), lines.size(), result.out());
        int loaded = 0;
        for (int i = 0; i < files.size(); i++) {
            String stock = lines.get(2 * i).substring("stock ".length());
            String planned = lines.get(2 * i + 1).substring("planned ".length());
            assertEquals(stock, planned, files.get(i));
            loaded += stock.startsWith("loaded") ? 1 : 0;
        }
        // A file that the engine accepts and our reader rejects is left to the engine, with a
        // warning.
        long warnings =
                result.err().lines().filter(l -> l.contains("runs as without djl-plan")).count();
        assertTrue(loaded > 0 && loaded == warnings, loaded + " loaded\n" + result.err());
    }

    /** Runs a command, whose last argument is the name of a file. */
    private static Result djlplan(String... arguments) {
        String[] line = arguments.clone();
        line[line.length - 1] = folder.resolve(line[line.length - 1]).toString();
        return DjlPlanProcess.runHere(line);
    }

    /** Returns the one line that a command fails with. */
    private static String failure(String... arguments) {
        Result result = djlplan(arguments);
        assertEquals(1, result.exitCode(), result.out() + result.err());
        List<String> ours =
                result.err().lines().filter(line -> !line.contains(" ai.djl.")).toList();
        assertEquals(1, ours.size(), result.err());
        assertTrue(ours.get(0).startsWith("djlplan: "), ours.get(0));
        assertFalse(ours.get(0).contains("Exception"), ours.get(0));
        return ours.get(0);
    }

    private static void assertContains(String text, String part) {
        assertTrue(text.contains(part), text);
    }

    @Test
    void plan_damagedFile_saysWhereItIsDamaged() throws Exception {
        assertContains(failure("plan", "half.tflite"), "half.tflite: byte ");
        assertContains(failure("plan", "noise.tflite"), "not a .tflite file");
        assertContains(failure("plan", "empty.tflite"), "0 bytes are too few for a model");
        assertContains(failure("plan", "--live", "half.tflite"), "half.tflite: byte ");
    }

    @Test
    void commands_folderInsteadOfFile_reportFolder() throws Exception {
        for (String command : List.of("plan", "run", "compare")) {
            assertContains(failure(command, "folder.tflite"), "a folder, not a");
        }
    }

    @Test
    void runAndCompare_damagedFile_sayWhereItIsDamaged() throws Exception {
        assertContains(failure("run", "half.tflite"), "half.tflite: byte ");
        assertContains(failure("compare", "noise.tflite"), "not a .tflite file");
        assertContains(failure("run", "--stock", "empty.tflite"), "too few for a model");
    }

    @Tag("long")
    @Test
    void commands_customOperator_planTheFileAndNameItElsewhere() throws Exception {
        assertEquals(0, djlplan("plan", "custom.tflite").exitCode());
        assertContains(failure("plan", "--live", "custom.tflite"), "NoSuchOperator");
        assertContains(failure("compare", "custom.tflite"), "NoSuchOperator");
    }

    @Tag("long")
    @Test
    void commands_sizesKnownOnlyAtRunTime_runAsStock() throws Exception {
        assertContains(failure("plan", "--live", "dynamic.tflite"), "known only at run time");
        Result result = djlplan("compare", "--iterations", "2", "--warmup", "0", "dynamic.tflite");
        assertEquals(0, result.exitCode(), result.err());
        assertContains(result.err(), "known only at run time");
    }
}
