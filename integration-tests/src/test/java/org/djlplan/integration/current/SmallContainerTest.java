package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a model with 8-bit weights in a container. Its operators are compared one by one, which
 * takes more memory than comparing outputs.
 */
@Tag("djl-current")
class SmallContainerTest {

    private static final long MIB = 1 << 20;

    @TempDir Path folder;

    @Test
    void load_noRoomToMeasure_servesTheCpuKernelsAnswers() throws Exception {
        ChildJvm.Result result = run("mobilenet_v2_dynamic_64", 170);
        assertTrue(result.out().contains("served UNVERIFIED false"), result::printed);
        assertTrue(result.out().contains("same true"), result::printed);
        assertEquals(1, result.warnings().size(), result::printed);
        assertTrue(result.warnings().get(0).contains("MB of memory are left"), result::printed);
    }

    @Tag("long")
    @Test
    void load_room_delegates() throws Exception {
        assertAgreed(run("mobilenet_v2_dynamic_64", 700), "served MEASURED true");
    }

    /** In some of the sizes there is room to begin the measurement, but not to end it. */
    @Tag("long")
    @Test
    void load_anyContainer_livesAndServesRightAnswers() throws Exception {
        for (int limit = 250; limit < 700; limit += 200) {
            ChildJvm.Result result = run("mobilenet_v2_dynamic", limit);
            assertTrue(
                    result.out().contains("same true") || result.out().contains("served MEASURED"),
                    limit + ": " + result.printed());
            assertTrue(result.out().contains("agreed true"), result::printed);
        }
        // Which set is the fastest depends on other work of the machine.
        assertAgreed(run("mobilenet_v2_dynamic", 1024), "served MEASURED");
    }

    private static void assertAgreed(ChildJvm.Result result, String served) {
        assertTrue(result.out().contains(served), result::printed);
        assertTrue(result.out().contains("agreed true"), result::printed);
    }

    /** Loads a copy, beside which nothing is stored, in a container with this number of MiB. */
    private ChildJvm.Result run(String model, int limit) throws Exception {
        Path own = Files.createTempDirectory(folder, "model").resolve("model.tflite");
        Files.copy(TestModels.built(model), own);
        try (MemoryGroup group = MemoryGroup.of(limit * MIB)) {
            ChildJvm.Result result =
                    new ChildJvm(folder)
                            .before(group.inside())
                            .options("-Xmx64m", "-XX:+UseSerialGC")
                            .run(SmallContainerProgram.class, own.toString());
            assertEquals(0, result.exitCode(), result::printed);
            return result;
        }
    }
}
