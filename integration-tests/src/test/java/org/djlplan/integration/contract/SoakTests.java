package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.contract.Soak.Outcome;
import org.djlplan.integration.support.Freed;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link Soak} briefly in a build, and at length in the Maven profile {@code stress}. */
public abstract class SoakTests {

    private static final int SHORT_PREDICTIONS = 2_000;
    private static final int WARM_UP_PREDICTIONS = 20_000;
    private static final double MEGA = 1e6;

    @TempDir Path folder;

    /** Makes the models in a folder. */
    protected abstract List<ModelCase> models(Path folder) throws Exception;

    /** Returns the size of the long run. */
    protected int longPredictions() {
        return 100_000;
    }

    /** Returns the number of threads that predict. */
    protected int threads() {
        return 8;
    }

    /** Returns the most bytes by which the process may grow in the second half of the long run. */
    protected long mostGrowthBytes() {
        return 8 << 20;
    }

    /** Returns whether the long run loads models again; engines may grow with each load. */
    protected boolean loadsInTheLongRun() {
        return true;
    }

    /** Returns the options of a load. */
    protected Map<String, Object> options(EngineCase engine, Random random) {
        return engine.options(
                Map.of("memplan.workers", List.of("auto", "0", "1", "3").get(random.nextInt(4))));
    }

    private Outcome soak(int loadEvery, int predictions, long seed) throws Exception {
        List<ModelCase> models = models(folder);
        Soak.Plan plan =
                new Soak.Plan(
                        threads(),
                        Math.max(6, models.size()),
                        loadEvery,
                        predictions,
                        Duration.ofDays(1),
                        (model, random, failed) ->
                                model.loadDirectly(options(model.engine(), random)));
        Outcome outcome = new Soak(models, plan).run(seed);
        assertEquals(List.of(), outcome.problems());
        assertTrue(outcome.predictions() >= predictions, outcome.toString());
        assertTrue(outcome.failures() > predictions / 32, outcome.toString());
        assertEquals(new Gate.Metric(0, 0), Gate.shared().metric());
        Freed.assertEverything();
        return outcome;
    }

    @Test
    @Tag("long")
    final void soak_short_allOutputsEqualStockAndEverythingIsFreed() throws Exception {
        Outcome outcome = soak(100, SHORT_PREDICTIONS, 1);
        assertTrue(outcome.loads() > 15, outcome.toString());
    }

    @Test
    @Tag("stress")
    final void soak_long_memoryStaysFlat() throws Exception {
        assertTrue(soak(200, WARM_UP_PREDICTIONS, 1).loads() > 50);
        Stopwatch watch = Stopwatch.createStarted();
        int loadEvery = loadsInTheLongRun() ? 200 : Integer.MAX_VALUE;
        Outcome outcome = soak(loadEvery, longPredictions(), 2);
        // Memory settles in the first half: models are loaded, threads and heaps begin.
        long[] tenths = outcome.residentBytes();
        int half = tenths.length / 2;
        long growth =
                Arrays.stream(tenths).skip(half).max().orElseThrow()
                        - Arrays.stream(tenths).limit(half).max().orElseThrow();
        String report = report(outcome, growth, watch.elapsed(TimeUnit.SECONDS));
        Files.writeString(Path.of("target", getClass().getSimpleName() + ".txt"), report);
        assertTrue(growth < mostGrowthBytes(), report);
    }

    private String report(Outcome outcome, long growth, long seconds) throws Exception {
        StringBuilder resident = new StringBuilder();
        for (long bytes : outcome.residentBytes()) {
            resident.append(String.format(Locale.ROOT, " %.1f", bytes / MEGA));
        }
        String memory = Files.readAllLines(Path.of("/proc/meminfo")).get(0).replaceAll("\\s+", " ");
        return String.format(
                Locale.ROOT,
                """
                soak: %d threads, random options, shapes, kept outputs, failures and loads
                command: mvn -Pstress verify -Dtest=%s -Dsurefire.failIfNoSpecifiedTests=false
                engines: %s, DJL %s
                a warm-up of %d predictions is not shown
                machine: %d cores, %s, Java %s

                predictions compared with stock: %d, wrong: 0
                predictions that failed as they should: %d
                models loaded and closed: %d
                predictions ended by a close: %d
                predictions in memory of their own: %d
                seconds: %d

                least resident MB during each tenth:%s
                largest of the second half, less that of the first: %.1f MB
                """,
                threads(),
                getClass().getSimpleName(),
                Engine.getAllEngines(),
                Engine.getDjlVersion(),
                WARM_UP_PREDICTIONS,
                Runtime.getRuntime().availableProcessors(),
                memory,
                Runtime.version(),
                outcome.predictions(),
                outcome.failures(),
                outcome.loads(),
                outcome.closedMeanwhile(),
                outcome.unplanned(),
                seconds,
                resident,
                growth / MEGA);
    }
}
