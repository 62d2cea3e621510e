package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.tflite.Probe;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how a model's file is mapped, and changes to the file of a loaded model. */
class ModelFileTest {

    private static final Path FILE = TestModels.built("blaze_face");

    @TempDir Path folder;

    private static long mappings() throws Exception {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.endsWith("/blaze_face.tflite")).count();
        }
    }

    /** The two models share one mapping, and DJL's own interpreters are closed. */
    @Test
    void load_sameFileTwice_mapsItOnce() throws Exception {
        // Java unmaps files of other tests' interpreters only when it collects garbage.
        Await.until(
                () -> {
                    System.gc();
                    return mappings() == 0;
                });
        try (ZooModel<NDList, NDList> one = Planned.load(FILE, Map.of())) {
            try (ZooModel<NDList, NDList> other = Planned.load(FILE, Map.of())) {
                assertTrue(PlanReport.of(other).orElseThrow().planned());
                assertEquals(1, mappings());
            }
            assertTrue(PlanReport.of(one).orElseThrow().planned());
            assertEquals(1, mappings());
        }
        assertEquals(0, mappings());
    }

    /** Runs in a separate JVM with a fixed heap, so that only native memory can grow. */
    @Tag("long")
    @Test
    void loadAndClose_fiveHundredTimes_growsNeitherMemoryNorMappings() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(
                                "-Xms128m",
                                "-Xmx128m",
                                "-XX:+AlwaysPreTouch",
                                "-XX:+UseSerialGC",
                                "-Dai.djl.tflite.disable_alternative=true")
                        .run(Probe.class, "reload", FILE.toString(), "100");
        assertEquals(0, result.exitCode(), result.err());
        List<Long> grown = result.out().lines().map(Long::valueOf).toList();
        assertTrue(grown.get(0) < 16 << 20, "grew by " + grown.get(0) + " bytes");
        assertTrue(grown.get(1) < 20, "grew by " + grown.get(1) + " mappings");
    }

    @ParameterizedTest
    @ValueSource(strings = {"truncate", "overwrite"})
    void predict_fileChangedInPlace_isAnErrorInsteadOfACrash(String what) throws Exception {
        Path file = Files.copy(FILE, folder.resolve("model.tflite"));
        ChildJvm.Result result = new ChildJvm(folder).run(Probe.class, what, file.toString());
        assertEquals(0, result.exitCode(), result.out() + result.err());
        assertEquals(
                List.of(
                        "true",
                        "IllegalStateException "
                                + file
                                + " was changed in place after it was loaded: load the model again",
                        "1",
                        "closed"),
                result.out().lines().toList());
    }

    /** If JNA cannot be loaded, it fails differently the second time. Both models run as stock. */
    @Test
    void load_twiceWithoutJna_runsAsStockWithAWarningEach() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(
                                "-Djna.nosys=true",
                                "-Djna.noclasspath=true",
                                "-Djna.boot.library.path=" + folder)
                        .run(Probe.class, "zeros", FILE.toString(), FILE.toString());
        assertEquals(0, result.exitCode(), result.out() + result.err());
        assertEquals(List.of("2 outputs", "2 outputs"), result.out().lines().toList());
        long warnings = result.err().lines().filter(l -> l.contains("cannot be loaded: ")).count();
        assertEquals(2, warnings, result.err());
    }
}
