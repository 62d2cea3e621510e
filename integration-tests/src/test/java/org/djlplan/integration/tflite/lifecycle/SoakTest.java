package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.tflite.lifecycle.Soak.Outcome;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link Soak} briefly in every build, and at length in the Maven profile {@code stress}. */
public class SoakTest {

    private static final int SHORT_PREDICTIONS = 3_000;
    private static final int WARM_UP_PREDICTIONS = 20_000;
    private static final long MAX_GROWTH_BYTES = 8 << 20;

    @TempDir Path folder;

    /** Returns whether some models are left to the engine. */
    protected boolean leavesSomeUnplanned() {
        return false;
    }

    /** Returns the number of predictions of the long run. */
    protected int longPredictions() {
        return 100_000;
    }

    /** Returns the name of the file with the results. */
    protected String reportName() {
        return "stress.txt";
    }

    @BeforeEach
    final void loadEngine() {
        StockInterpreter.loadEngine();
    }

    private Outcome soak(int predictions, long seed) throws Exception {
        Outcome outcome =
                new Soak(SoakCase.prepare(folder), leavesSomeUnplanned(), predictions, seed).run();
        assertEquals(List.of(), outcome.problems());
        assertTrue(outcome.predictions() >= predictions, outcome.toString());
        assertTrue(outcome.loads() > predictions / 500, outcome.toString());
        assertEquals(0, MappedFile.openCount());
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
        return outcome;
    }

    @Test
    protected void soak_short_allOutputsEqualStockAndEverythingIsFreed() throws Exception {
        Outcome outcome = soak(SHORT_PREDICTIONS, 1);
        assertEquals(0, outcome.unplanned(), "predictions without an arena: " + outcome);
    }

    @Test
    @Tag("stress")
    protected void soak_long_memoryStaysFlat() throws Exception {
        assertEquals(10, soak(WARM_UP_PREDICTIONS, 1).residentBytes().size());
        Stopwatch watch = Stopwatch.createStarted();
        Outcome outcome = soak(longPredictions(), 2);
        List<Long> resident = outcome.residentBytes();
        long growth = Collections.max(resident) - resident.get(0);
        Files.writeString(
                Path.of("target", reportName()),
                report(outcome, growth, watch.elapsed(TimeUnit.SECONDS)));
        assertTrue(growth < MAX_GROWTH_BYTES, "grew by " + growth + " bytes: " + resident);
    }

    private String report(Outcome outcome, long growth, long seconds) throws Exception {
        String memory = Files.readAllLines(Path.of("/proc/meminfo")).get(0).replaceAll("\\s+", " ");
        StringBuilder text = new StringBuilder();
        text.append("soak: 8 threads, 6 models at a time, random options, random close and load\n");
        text.append("command: mvn -Pstress verify -Dtest=" + getClass().getSimpleName());
        text.append(" -Dsurefire.failIfNoSpecifiedTests=false\n");
        text.append("engine: TFLite " + Engine.getEngine("TFLite").getVersion());
        text.append(", DJL " + Engine.getDjlVersion());
        text.append(leavesSomeUnplanned() ? ", one load in three without a plan\n" : "\n");
        text.append("a warm-up of " + WARM_UP_PREDICTIONS + " predictions is not shown\n");
        text.append(
                String.format(
                        Locale.ROOT,
                        "machine: %d cores, %s, %s %s, Java %s%n%n",
                        Runtime.getRuntime().availableProcessors(),
                        memory,
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"),
                        Runtime.version()));
        text.append("predictions compared with stock: " + outcome.predictions() + ", wrong: 0\n");
        text.append("models loaded and closed: " + outcome.loads() + "\n");
        text.append("predictions ended by a close: " + outcome.closedMeanwhile() + "\n");
        text.append("predictions in memory of their own: " + outcome.unplanned() + "\n");
        text.append("seconds: " + seconds + "\n\n");
        text.append("resident MB after each tenth:");
        outcome.residentBytes()
                .forEach(b -> text.append(String.format(Locale.ROOT, " %.1f", b / 1e6)));
        text.append(
                String.format(
                        Locale.ROOT, "%ngrowth after the first tenth: %.1f MB%n", growth / 1e6));
        return text.toString();
    }
}
