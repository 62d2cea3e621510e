package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests releases of DJL and of ONNX Runtime, and unsupported variants, each in its own JVM. */
@Tag("onnxruntime")
class OrtReleaseTest {

    private static final Path OTHERS =
            Path.of("downloads", "target", "onnxruntime").toAbsolutePath();

    private static final int MODELS = 7;

    @TempDir Path folder;

    /** Asserts that the line of each model begins so. */
    private static void assertEach(String beginning, ChildJvm.Result result) {
        assertEquals(
                MODELS,
                result.out().lines().filter(line -> line.startsWith(beginning)).count(),
                result.printed());
    }

    /**
     * Returns this JVM's class path with some jars replaced by other releases', which the build
     * copies.
     */
    private static List<String> classPath(String djl, String onnxRuntime) {
        List<String> path =
                new ArrayList<>(
                        ChildJvm.ownClassPath().stream()
                                .filter(
                                        entry ->
                                                Stream.of("api-", "onnxruntime-")
                                                        .noneMatch(name -> isNamed(entry, name)))
                                .toList());
        path.add(OTHERS.resolve("api-" + djl + ".jar").toString());
        path.add(OTHERS.resolve("onnxruntime-engine-" + djl + ".jar").toString());
        path.add(OTHERS.resolve("onnxruntime-" + onnxRuntime + ".jar").toString());
        return path;
    }

    /**
     * Returns a jar that names the class path. ONNX Runtime 1.29.0 matches the command line against
     * a regular expression, by recursion: a long one overflows the stack and ends the JVM.
     */
    private Path jarOf(List<String> classPath) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes()
                .put(
                        Attributes.Name.CLASS_PATH,
                        classPath.stream()
                                .map(entry -> Path.of(entry).toUri().toString())
                                .collect(Collectors.joining(" ")));
        Path jar = folder.resolve("path.jar");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    private static boolean isNamed(String entry, String start) {
        String name = Path.of(entry).getFileName().toString();
        return name.startsWith(start) && entry.contains(start.equals("api-") ? "djl" : "onnx");
    }

    @ParameterizedTest
    @CsvSource({"0.36.0,1.23.2", "0.38.0,1.29.0"})
    void predict_otherReleases_givesTheBytesOfStock(String djl, String onnxRuntime)
            throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .classPath(List.of(jarOf(classPath(djl, onnxRuntime)).toString()))
                        .run(OrtReleaseProgram.class, folder.toString());
        assertEquals(0, result.exitCode(), result.printed());
        assertTrue(result.out().contains("engine " + onnxRuntime), result.printed());
        assertEach("20 same, planned", result);
        assertEquals(List.of(), result.warnings());
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"0.35.1,1.21.1", "0.35.1,1.29.0"})
    void predict_furtherReleases_givesTheBytesOfStock(String djl, String onnxRuntime)
            throws Exception {
        predict_otherReleases_givesTheBytesOfStock(djl, onnxRuntime);
    }

    @Test
    void load_reflectionRefused_isStockWithAWarning() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .options("-Djava.security.manager=allow")
                        .run(
                                OrtReleaseProgram.class,
                                folder.toString(),
                                OrtReleaseProgram.NO_REFLECTION);
        assertEquals(0, result.exitCode(), result.printed());
        assertEach("20 same, DJL's engine", result);
        assertEquals(MODELS, result.warnings().size(), result.printed());
    }

    @Test
    @Tag("long")
    void predict_noMemory_failsAndLeavesTheModelUsable() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(
                                "-Xmx768m",
                                "-XX:+UseSerialGC",
                                "-XX:CompressedClassSpaceSize=64m",
                                "-XX:ReservedCodeCacheSize=64m")
                        .after("ulimit -v 4000000")
                        .run(OrtNoMemoryProgram.class, folder.toString());
        assertEquals(0, result.exitCode(), result.printed());
        assertEquals(
                List.of("same", "failed", "same"), result.out().lines().toList(), result.printed());
    }

    @Test
    void load_allocatorOfTheApplications_isStockWithAWarning() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .run(
                                OrtReleaseProgram.class,
                                folder.toString(),
                                OrtReleaseProgram.OWN_ALLOCATOR);
        assertEquals(0, result.exitCode(), result.printed());
        assertEach("20 same, ONNX Runtime", result);
        assertEquals(MODELS, result.warnings().size(), result.printed());
    }
}
