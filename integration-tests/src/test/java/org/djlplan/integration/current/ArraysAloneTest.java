package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests djl-plan's arrays without another engine: they support every operation that DJL's
 * translators for images and for raw arrays use.
 */
@Tag("djl-current")
class ArraysAloneTest {

    @TempDir Path folder;

    @Test
    void arrays_noOtherEngine_passTheTestsOfArrays() throws Exception {
        List<String> alone =
                ChildJvm.ownClassPath().stream()
                        .filter(
                                entry ->
                                        !Path.of(entry)
                                                .getFileName()
                                                .toString()
                                                .startsWith("pytorch"))
                        .toList();
        assertTrue(alone.size() < ChildJvm.ownClassPath().size());
        ChildJvm.Result result =
                new ChildJvm(folder).classPath(alone).run(ArraysAloneProgram.class);
        assertEquals(0, result.exitCode(), result.printed());
        int tests = ArraysAloneProgram.tests().size();
        assertEquals(tests + " passed", result.out().lines().reduce((a, b) -> b).orElseThrow());
    }
}
