package org.djlplan.integration.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.Model;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import org.djlplan.delegation.internal.MeasuredDelegation;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.rewrite.StoredChoice;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests redeployed applications, each with djl-plan in a new class loader. DJL and its engines are
 * in the container or in the application. (PyTorch's libraries stay with their first class loader,
 * even without djl-plan.)
 */
class RedeploymentTest {

    private static final int ROUNDS = 2;

    /** It takes about two seconds, or ten if arenas had to pause first; the machine may be busy. */
    private static final int SECONDS = 8;

    /** With JNA's thread, and a busy machine. */
    private static final int SECONDS_WITH_ENGINES = 60;

    @TempDir Path folder;

    @Test
    void redeploy_tflite_isPlannedEachTimeAndCollected() throws Exception {
        assertEachPlannedAndCollected("TFLite", TestModels.built("chains"), "1,32,32,8");
    }

    @Tag("long")
    @Test
    void redeploy_pytorch_isPlannedEachTimeAndCollected() throws Exception {
        Path model = Files.createDirectory(folder.resolve("cnn")).resolve("cnn.pt");
        Files.copy(TorchScriptModels.named("cnn").file(), model);
        assertEachPlannedAndCollected("PyTorch", model, "1,3,32,32");
    }

    @Test
    @Tag("long")
    void redeploy_rewrittenModel_isPlannedEachTimeAndCollected() throws Exception {
        Path model = Files.createDirectory(folder.resolve("rewritten")).resolve("cnn.pt");
        Files.copy(TorchScriptModels.named("cnn").file(), model);
        Torch.threads(1);
        StoredChoice.of(model, "optimize_for_inference");
        assertEachPlannedAndCollected("PyTorch", model, "1,3,32,32", "delegation.onMissing=fail");
    }

    @Test
    @Tag("long")
    void redeploy_networkOfBlocks_isPlannedEachTimeAndCollected() throws Exception {
        Path model = Files.createDirectory(folder.resolve("network"));
        Shape shape = new Shape(1, 32);
        try (Model network = Model.newInstance(Application.NETWORK, "PyTorch")) {
            network.setBlock(Application.network());
            network.getBlock().initialize(network.getNDManager(), DataType.FLOAT32, shape);
            network.save(model, Application.NETWORK);
        }
        assertEachPlannedAndCollected("PyTorch", model, "1,32");
    }

    /**
     * Each application has a JNA of its own, too, whose library, threads and variables of threads
     * end with it.
     */
    @Tag("long")
    @Test
    void redeploy_tfliteWithDjlAndEngine_isPlannedEachTimeAndCollected() throws Exception {
        List<String> applications = ours();
        applications.addAll(others());
        // TFLite's engine would load it, too, if it is present.
        applications.removeIf(entry -> entry.contains("pytorch"));
        // If there is an NVIDIA library, DJL would keep it, and thereby JNA's thread.
        ChildJvm jvm =
                new ChildJvm(folder)
                        .small()
                        .classPath(List.of(copyOf(Redeployment.class, "container")))
                        .options("-Dai.djl.util.cuda.fork=true", "-Dredeployment.probe=" + noGpu());
        assertEachPlannedAndCollected(
                jvm,
                applications,
                SECONDS_WITH_ENGINES,
                "TFLite",
                TestModels.built("chains"),
                "1,32,32,8");
    }

    private void assertEachPlannedAndCollected(
            String engine, Path model, String shape, String... options) throws Exception {
        List<String> applications = ours();
        List<String> container = new ArrayList<>();
        for (String entry : others()) {
            (entry.matches(".*(djl-plan-thirdparty-|djl-memplan/thirdparty/).*")
                            ? applications
                            : container)
                    .add(entry);
        }
        container.add(copyOf(Redeployment.class, "container"));
        ChildJvm jvm =
                new ChildJvm(folder)
                        .small()
                        .classPath(container)
                        .options(
                                "-Dredeployment.engine=" + engine,
                                "-Dai.djl.pytorch.num_threads=1");
        assertEachPlannedAndCollected(jvm, applications, SECONDS, engine, model, shape, options);
    }

    private void assertEachPlannedAndCollected(
            ChildJvm jvm,
            List<String> applications,
            int seconds,
            String engine,
            Path model,
            String shape,
            String... options)
            throws Exception {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(
                List.of(
                        Integer.toString(ROUNDS),
                        Integer.toString(seconds),
                        Application.class.getName()));
        arguments.add(String.join(File.pathSeparator, applications));
        arguments.addAll(List.of("planned", engine, model.toString(), shape));
        arguments.addAll(List.of(options));
        ChildJvm.Result result = jvm.run(Redeployment.class, arguments.toArray(String[]::new));
        assertEquals(0, result.exitCode(), result.printed());
        List<String> lines =
                result.out()
                        .lines()
                        .filter(line -> line.matches("(ran|collected|kept).*"))
                        .map(line -> line.replaceFirst("ran [0-9a-f]{8}", "ran"))
                        .map(line -> line.replaceFirst(" after .*", ""))
                        .toList();
        List<String> expected = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            expected.add("ran true 0");
            expected.add("collected");
        }
        assertEquals(expected, lines, result.printed());
        assertEquals(List.of(), result.warnings());
    }

    /** Returns the class path of djl-plan and an application. */
    private List<String> ours() throws Exception {
        List<String> entries = new ArrayList<>();
        entries.add(jar(PlannedTranslatorFactory.class, "memplan.jar"));
        entries.add(jar(MeasuredDelegation.class, "delegation.jar"));
        entries.add(copyOf(Application.class, "application"));
        return entries;
    }

    /** Returns DJL, its engines, and all else on our class path. */
    private static List<String> others() throws Exception {
        List<String> entries = new ArrayList<>(ChildJvm.ownClassPath());
        entries.remove(home(PlannedTranslatorFactory.class));
        entries.remove(home(MeasuredDelegation.class));
        entries.remove(home(Application.class));
        return entries;
    }

    /** Returns a class path with which DJL's program to count GPUs finds none. */
    private Path noGpu() throws Exception {
        Path path = Files.createDirectory(folder.resolve("probe"));
        Path source = path.resolve("CudaUtils.java");
        Files.writeString(
                source,
                """
                package ai.djl.util.cuda;
                class CudaUtils {
                    public static void main(String[] arguments) {
                        System.out.println(0);
                    }
                }
                """);
        int status =
                ToolProvider.findFirst("javac")
                        .orElseThrow()
                        .run(System.out, System.err, "-d", path.toString(), source.toString());
        assertEquals(0, status);
        return path;
    }

    private static String home(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    /** Returns a jar, as users have it: the native library is unpacked from it. */
    private String jar(Class<?> type, String name) throws Exception {
        if (home(type).endsWith(".jar")) {
            return home(type);
        }
        String file = folder.resolve(name).toString();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        int status =
                ToolProvider.findFirst("jar")
                        .orElseThrow()
                        .run(out, out, "--create", "--file", file, "-C", home(type), ".");
        assertEquals(0, status);
        return file;
    }

    /** Returns a folder with one class and nothing else. */
    private String copyOf(Class<?> type, String name) throws Exception {
        String resource = type.getName().replace('.', '/') + ".class";
        Path copy = folder.resolve(name).resolve(resource);
        Files.createDirectories(copy.getParent());
        Files.copy(Path.of(home(type)).resolve(resource), copy);
        return folder.resolve(name).toString();
    }
}
