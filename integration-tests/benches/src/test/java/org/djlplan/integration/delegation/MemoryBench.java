package org.djlplan.integration.delegation;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the resident set of models in a fresh JVM under several limits. djl-plan measures in
 * advance to choose operators for a limit; the table shows whether the model then keeps the limit.
 * Prints a table; asserts nothing.
 */
@Tag("bench")
class MemoryBench {

    private static final List<String> JVM =
            List.of(
                    "-Xms64m",
                    "-Xmx64m",
                    "-XX:+AlwaysPreTouch",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        OUT.println(
                "model, options: anonymous resident MB of the process above a load of another"
                        + " model, median ms; delegated: reason");
        for (String name : List.of("palm_detection_full", "hand_landmark_full")) {
            Path real = RealModels.TFLITE.file(name);
            Path original = Files.isRegularFile(real) ? real : TestModels.built("mobilenet_v2");
            String limit = name.startsWith("palm") ? "34MB" : "24MB";
            measure(original, "delegation.enabled=false");
            measure(original, "delegation.maxMemory=" + limit);
            measure(original, "delegation.objective=memory");
            measure(original, "delegation.objective=balanced");
            measure(original, "delegation.objective=latency");
        }
    }

    private void measure(Path original, String option) throws Exception {
        Path file = Files.createTempDirectory(folder, "model").resolve(original.getFileName());
        Files.copy(original, file);
        // The first JVM measures, the second finds the stored result.
        ChildJvm.Result unused =
                new ChildJvm(folder)
                        .options(JVM.toArray(String[]::new))
                        .run(MemoryProbe.class, file.toString(), option);
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(JVM.toArray(String[]::new))
                        .run(MemoryProbe.class, file.toString(), option);
        OUT.print(
                String.format(
                        Locale.ROOT,
                        "%-20s %-32s %s",
                        original.getFileName().toString().replace(".tflite", ""),
                        option,
                        result.out().isEmpty() ? result.err() : result.out()));
    }
}
