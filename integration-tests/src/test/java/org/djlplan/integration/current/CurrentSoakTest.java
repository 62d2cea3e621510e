package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.djlplan.integration.contract.EngineCase;
import org.djlplan.integration.contract.TfLiteSoakTest;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.tflite.Probe;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link TfLiteSoakTest} on current DJL with djl-plan's engine, planned and unplanned. */
@Tag("djl-current")
class CurrentSoakTest extends TfLiteSoakTest {

    /**
     * By then the C library's arenas of all threads have their final size, and the compiler has
     * compiled everything. Until then some 4 MB are added, and from then on none.
     */
    private static final String LOADS_BEFORE = "1800";

    private static final int MAX_GROWTH_BYTES = 1 << 20;
    private static final int MAX_MORE_MAPPINGS = 20;

    @TempDir Path childFolder;

    @Override
    protected Map<String, Object> options(EngineCase engine, Random random) {
        Map<String, Object> options = new HashMap<>(super.options(engine, random));
        options.put("memplan.enabled", random.nextInt(3) > 0);
        return options;
    }

    @Override
    protected int longPredictions() {
        return 800_000;
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"reload", "reloadPlain"})
    void loadPredictClose_again_memoryStaysFlat(String how) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(childFolder)
                        .options(
                                "-Xms64m",
                                "-Xmx64m",
                                "-XX:+AlwaysPreTouch",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1")
                        .run(Probe.class, how, TestModels.built("chains").toString(), LOADS_BEFORE);
        assertEquals(0, result.exitCode(), result.err());
        List<Long> grown = result.out().lines().map(Long::valueOf).toList();
        assertTrue(grown.get(0) < MAX_GROWTH_BYTES, "grew by " + grown.get(0) + " bytes");
        assertTrue(grown.get(1) < MAX_MORE_MAPPINGS, "grew by " + grown.get(1) + " mappings");
    }
}
