package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link ThreeEnginesSoak} in a JVM that has all engines. */
@Tag("djl-current")
class ThreeEnginesSoakTest {

    private static final Path RELEASES =
            Path.of("downloads", "target", "onnxruntime").toAbsolutePath();

    @TempDir Path folder;

    @Test
    @Tag("long")
    void soak_short_allOutputsEqualStock() throws Exception {
        soak(10);
    }

    @Test
    @Tag("stress")
    void soak_long_allOutputsEqualStock() throws Exception {
        ChildJvm.Result result = soak(600);
        Files.writeString(Path.of("target", "ThreeEnginesSoakTest.txt"), result.out());
    }

    private ChildJvm.Result soak(long seconds) throws Exception {
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        for (String jar : List.of("onnxruntime-engine-0.35.1.jar", "onnxruntime-1.21.1.jar")) {
            classPath.add(RELEASES.resolve(jar).toString());
        }
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .classPath(classPath)
                        .run(ThreeEnginesSoak.class, folder.toString(), Long.toString(seconds));
        assertEquals(0, result.exitCode(), result.printed());
        return result;
    }
}
