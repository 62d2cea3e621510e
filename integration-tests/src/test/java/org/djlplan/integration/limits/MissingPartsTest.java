package org.djlplan.integration.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.cli.DjlPlan;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that models run as stock, with one warning, if a required class or library is missing. */
class MissingPartsTest {

    /** The stock engines' outputs, computed once for each engine. */
    private static final Map<String, String> STOCK = new HashMap<>();

    @TempDir Path folder;

    private String[] model(String engine, String how) throws Exception {
        if (engine.equals("TFLite")) {
            return new String[] {how, engine, TestModels.built("chains").toString(), "1,32,32,8"};
        }
        Path model = Files.createTempDirectory(folder, "cnn").resolve("cnn.pt");
        Files.copy(TorchScriptModels.named("cnn").file(), model);
        return new String[] {how, engine, model.toString(), "1,3,32,32"};
    }

    private static String answer(ChildJvm.Result result) {
        assertEquals(0, result.exitCode(), result.printed());
        return result.out().strip().lines().reduce((first, last) -> last).orElseThrow();
    }

    private String stockAnswer(String engine) throws Exception {
        if (!STOCK.containsKey(engine)) {
            STOCK.put(
                    engine,
                    answer(
                            new ChildJvm(folder)
                                    .small()
                                    .run(Application.class, model(engine, "stock"))));
        }
        return STOCK.get(engine);
    }

    /**
     * Asserts that outputs of the planned model in one JVM equal stock's in another; returns the
     * warning.
     */
    private String assertStockWithOneWarning(String engine, ChildJvm jvm) throws Exception {
        String expected = stockAnswer(engine);
        ChildJvm.Result result = jvm.run(Application.class, model(engine, "planned"));
        assertEquals(expected, answer(result).substring(0, expected.length()), result.printed());
        assertFalse(answer(result).contains("true"), result.printed());
        assertEquals(1, result.warnings().size(), result.printed());
        return result.warnings().get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TFLite", "PyTorch"})
    void load_noLibrariesOfOurs_runsAsStock(String engine) throws Exception {
        List<String> classPath =
                ChildJvm.ownClassPath().stream()
                        .filter(
                                entry ->
                                        !entry.matches(
                                                ".*(djl-plan-thirdparty-|djl-memplan/thirdparty/).*"))
                        .toList();
        String warning =
                assertStockWithOneWarning(
                        engine, new ChildJvm(folder).small().classPath(classPath));
        assertTrue(warning.contains("org/djlplan/thirdparty/guava"), warning);
    }

    /** An application lacks the commands, their libraries, and optional libraries. */
    @ParameterizedTest
    @ValueSource(strings = {"TFLite", "PyTorch"})
    void load_noCommandsAndNothingOptional_isPlanned(String engine) throws Exception {
        List<String> classPath =
                ChildJvm.ownClassPath().stream()
                        .filter(
                                entry ->
                                        !entry.matches(
                                                ".*(djl-plan-command-[^/]*|picocli[^/]*|model-zoo[^/]*)"))
                        .toList();
        assertTrue(classPath.size() < ChildJvm.ownClassPath().size());
        String expected = stockAnswer(engine);
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .classPath(classPath)
                        .run(Application.class, model(engine, "planned"));
        assertEquals(expected + " true", answer(result).replaceFirst(" [0-9]+$", ""));
        assertEquals(List.of(), result.warnings(), result.printed());
    }

    /** Each of these classes is first used when a model is loaded, is planned, or predicts. */
    @ParameterizedTest
    @ValueSource(strings = {"TFLite runtime/tflite/InputShapes", "PyTorch djl/BlockProxy"})
    void load_classMissing_runsAsStock(String engineAndClass) throws Exception {
        String engine = engineAndClass.substring(0, engineAndClass.indexOf(' '));
        String missing = engineAndClass.substring(engine.length() + 1);
        String warning = assertStockWithOneWarning(engine, jvmWithout(missing));
        assertTrue(warning.contains(missing.replaceFirst(".*/", "")), warning);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "TFLite plan/MemoryPlanner",
                "TFLite source/tflite/TfLiteReader",
                "TFLite djl/StockTfLiteAdapter",
                "TFLite serving/ServedModel",
                "PyTorch runtime/torch/TorchAllocator",
                "PyTorch runtime/torch/TorchArenas",
                "PyTorch usage/AllocationTrace",
                "PyTorch runtime/torch/TorchArenas$Outcome"
            })
    void load_otherClassMissing_runsAsStock(String engineAndClass) throws Exception {
        load_classMissing_runsAsStock(engineAndClass);
    }

    private ChildJvm jvmWithout(String missing) throws Exception {
        Path home =
                Path.of(
                        PlannedTranslatorFactory.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        String name = "org/djlplan/memplan/internal/" + missing + ".class";
        Path copy = folder.resolve("classes");
        if (Files.isDirectory(home)) {
            copyWithout(name, home, copy);
        } else {
            copy = Files.copy(home, folder.resolve("classes.jar"));
            try (FileSystem jar = FileSystems.newFileSystem(copy)) {
                Files.delete(jar.getPath(name));
            }
        }
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        assertTrue(classPath.remove(home.toString()));
        classPath.add(copy.toString());
        return new ChildJvm(folder).small().classPath(classPath);
    }

    private static void copyWithout(String missing, Path from, Path to) throws IOException {
        assertTrue(Files.isRegularFile(from.resolve(missing)), missing);
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = from.relativize(file).toString();
                if (Files.isRegularFile(file) && !name.equals(missing)) {
                    Files.createDirectories(to.resolve(name).getParent());
                    Files.copy(file, to.resolve(name));
                }
            }
        }
    }

    /** Both of JNA's folders are on a file system from which nothing may be executed. */
    @Test
    @Tag("long")
    void load_nothingMayBeExecuted_namesCauseAndRemedy() throws Exception {
        Path mounted = Files.createDirectory(folder.resolve("noexec"));
        Process mount =
                new ProcessBuilder(
                                "mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", mounted.toString())
                        .start();
        assumeTrue(mount.waitFor() == 0, "a file system can be mounted only by root");
        try {
            for (String engine : List.of("TFLite", "PyTorch")) {
                String warning =
                        assertStockWithOneWarning(
                                engine,
                                new ChildJvm(folder).small().options("-Djna.tmpdir=" + mounted));
                assertTrue(warning.contains("jna.tmpdir"), warning);
                assertTrue(warning.contains(mounted.toString()), warning);
                assertTrue(warning.contains("noexec"), warning);
                assertFalse(warning.contains("no native library for"), warning);
            }
            assertIsMeasured("-Djava.io.tmpdir=" + mounted);
            Path executable = Files.createDirectory(folder.resolve("executable"));
            assertIsMeasured("-Djava.io.tmpdir=" + mounted, "-Djna.tmpdir=" + executable);
        } finally {
            assertEquals(0, new ProcessBuilder("umount", mounted.toString()).start().waitFor());
        }
    }

    private void assertIsMeasured(String... options) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(options)
                        .run(DjlPlan.class, "tune", TestModels.built("chains").toString());
        assertEquals(0, result.exitCode(), result.printed());
    }
}
