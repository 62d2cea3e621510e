package org.djlplan.integration.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import org.djlplan.delegation.MeasuredDelegation;
import org.djlplan.integration.TestModels;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Applications that come and go, each with djl-plan in a class loader of its own, in a container
 * that has DJL and its engines for all. (An application that brings DJL itself can be redeployed
 * only as far as DJL can: PyTorch's libraries stay with their first class loader.)
 */
class RedeploymentTest {

    private static final int ROUNDS = 5;

    @TempDir Path folder;

    @Test
    void redeploy_tflite_isPlannedEachTimeAndCollected() throws Exception {
        assertEachPlannedAndCollected("TFLite", TestModels.built("chains"), "1,32,32,8", 0);
    }

    /** Its first prediction is recorded; after that the plan is found beside the model. */
    @Test
    void redeploy_pytorch_isPlannedEachTimeAndCollected() throws Exception {
        Path model = Files.createDirectory(folder.resolve("cnn")).resolve("cnn.pt");
        Files.copy(TorchScriptModels.named("cnn").file(), model);
        assertEachPlannedAndCollected("PyTorch", model, "1,3,32,32", 1);
    }

    private void assertEachPlannedAndCollected(
            String engine, Path model, String shape, int unplannedAtFirst) throws Exception {
        List<String> applications = new ArrayList<>();
        List<String> container = new ArrayList<>();
        applications.add(jar(PlannedTranslatorFactory.class, "memplan.jar"));
        applications.add(jar(MeasuredDelegation.class, "delegation.jar"));
        List<String> ours =
                List.of(
                        home(PlannedTranslatorFactory.class),
                        home(MeasuredDelegation.class),
                        home(Application.class));
        for (String entry : Jvm.ownClassPath()) {
            boolean used =
                    entry.contains("guava")
                            || entry.contains("flatbuffers")
                            || entry.contains("failureaccess");
            if (!ours.contains(entry)) {
                (used ? applications : container).add(entry);
            }
        }
        applications.add(copyOf(Application.class, "application"));
        container.add(copyOf(Redeployment.class, "container"));
        Jvm.Result result =
                new Jvm(folder)
                        .classPath(container)
                        .options("-Dredeployment.engine=" + engine)
                        .run(
                                Redeployment.class,
                                Integer.toString(ROUNDS),
                                "60",
                                Application.class.getName(),
                                String.join(File.pathSeparator, applications),
                                "planned",
                                engine,
                                model.toString(),
                                shape);
        assertEquals(0, result.exitCode(), result.printed());
        List<String> lines =
                result.printed()
                        .lines()
                        .filter(line -> line.matches("(ran|collected|kept).*"))
                        .map(line -> line.replaceFirst("ran [0-9a-f]{8}", "ran"))
                        .toList();
        List<String> expected = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            expected.add("ran true " + (round == 0 ? unplannedAtFirst : 0));
            expected.add("collected");
        }
        assertEquals(expected, lines, result.printed());
        assertEquals(List.of(), result.warnings());
    }

    private static String home(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    /** As users have it: the native library is unpacked from a jar. */
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

    /** A folder with one class and nothing else. */
    private String copyOf(Class<?> type, String name) throws Exception {
        String resource = type.getName().replace('.', '/') + ".class";
        Path copy = folder.resolve(name).resolve(resource);
        Files.createDirectories(copy.getParent());
        Files.copy(Path.of(home(type)).resolve(resource), copy);
        return folder.resolve(name).toString();
    }
}
