package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.lifecycle.TorchSoak.Outcome;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@link TorchSoak} briefly in every build, and at length in the Maven profile {@code stress}.
 */
class TorchSoakTest {

    private static final int FEW = 8;
    private static final int MANY = 64;
    private static final int SHORT_PREDICTIONS = 2_000;
    private static final int WARM_UP_PREDICTIONS = 20_000;
    private static final int LONG_PREDICTIONS = 100_000;
    private static final int LOAD_EVERY = 200;

    /**
     * The engine alone grows by some 10 MB; the limit would reveal a leak of 200 bytes per
     * prediction.
     */
    private static final long MAX_GROWTH_BYTES = 16 << 20;

    private static final Path REPORT = Path.of("target", "stress-torch.txt");

    @TempDir Path folder;

    private static Map<String, ?> randomOptions(Random random) {
        return Map.of(
                "memplan.workers",
                List.of("auto", "0", "1", "3").get(random.nextInt(4)),
                "memplan.verify",
                random.nextInt(8) == 0,
                "memplan.budget",
                List.of("none", "64MB").get(random.nextInt(2)));
    }

    private static Outcome soak(
            List<TorchSoakCase> cases, int loadEvery, int predictions, long seed) throws Exception {
        Outcome outcome =
                new TorchSoak(
                                cases,
                                FEW,
                                TorchSoakTest::randomOptions,
                                loadEvery,
                                predictions,
                                seed)
                        .run();
        assertEquals(List.of(), outcome.problems());
        assertTrue(outcome.predictions() >= predictions, outcome.toString());
        assertTrue(outcome.failures() > predictions / 20, outcome.toString());
        assertEquals(0, outcome.unplanned(), outcome.toString());
        assertEquals(10, outcome.residentBytes().size());
        Torch.assertNoArenas();
        return outcome;
    }

    @Test
    @Tag("long")
    void soak_short_allOutputsEqualStockAndEverythingIsFreed() throws Exception {
        Torch.threads(1);
        Outcome outcome = soak(TorchSoakCase.prepare(folder), LOAD_EVERY, SHORT_PREDICTIONS, 1);
        assertTrue(outcome.loads() > TorchScriptModels.stateless().size(), outcome.toString());
    }

    /**
     * Models are not reloaded, because the engine itself grows with every load, as stock even more.
     */
    @Test
    @Tag("stress")
    void soak_long_memoryStaysFlat() throws Exception {
        Torch.threads(1);
        List<TorchSoakCase> cases = TorchSoakCase.prepare(folder);
        assertTrue(soak(cases, LOAD_EVERY, WARM_UP_PREDICTIONS, 1).loads() > cases.size());
        Stopwatch watch = Stopwatch.createStarted();
        Outcome outcome = soak(cases, Integer.MAX_VALUE, LONG_PREDICTIONS, 2);
        long growth = growth(outcome);
        Files.writeString(REPORT, report(outcome, FEW, watch.elapsed(TimeUnit.SECONDS)));
        assertTrue(
                growth < MAX_GROWTH_BYTES,
                "grew by " + growth + " bytes: " + outcome.residentBytes());
    }

    /** Runs in a JVM whose C library has no limit for the number of its heaps. */
    @Test
    @Tag("stress")
    void soak_manyThreadsAndLoads_memoryStaysFlat() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options("-Xms256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
                        .run(
                                ManyThreads.class,
                                folder.toString(),
                                Integer.toString(LONG_PREDICTIONS));
        assertEquals(0, result.exitCode(), result.out() + result.err());
        Files.writeString(Path.of("target", "stress-pool.txt"), result.out());
    }

    /** A pool of 64 threads with default options. */
    static final class ManyThreads {

        private ManyThreads() {}

        public static void main(String[] arguments) throws Exception {
            Torch.threads(1);
            List<TorchSoakCase> cases = TorchSoakCase.prepare(Path.of(arguments[0]));
            int predictions = Integer.parseInt(arguments[1]);
            run(cases, predictions / 5, 1);
            Stopwatch watch = Stopwatch.createStarted();
            Outcome outcome = run(cases, predictions, 2);
            System.out.print(report(outcome, MANY, watch.elapsed(TimeUnit.SECONDS)));
        }

        private static Outcome run(List<TorchSoakCase> cases, int predictions, long seed)
                throws Exception {
            Outcome outcome =
                    new TorchSoak(cases, MANY, random -> Map.of(), LOAD_EVERY, predictions, seed)
                            .run();
            assertEquals(List.of(), outcome.problems());
            Torch.assertNoArenas();
            // The engine itself grows with every load.
            assertTrue(growth(outcome) < 3 * MAX_GROWTH_BYTES, outcome.toString());
            return outcome;
        }
    }

    private static String report(Outcome outcome, int threads, long seconds) {
        StringBuilder text = new StringBuilder();
        long growth = growth(outcome);
        text.append("soak: " + threads + " threads, all TorchScript models at once,");
        text.append(threads == FEW ? " random options, shapes," : " shapes,");
        text.append(" retention and failures\n");
        text.append("command: mvn -Pstress verify -Dtest=TorchSoakTest");
        text.append(" -Dsurefire.failIfNoSpecifiedTests=false\n");
        text.append("a warm-up of " + WARM_UP_PREDICTIONS + " predictions, with loads between,");
        text.append(" is not shown\n\n");
        text.append("predictions compared with stock: " + outcome.predictions() + ", wrong: 0\n");
        text.append("predictions that failed as they should: " + outcome.failures() + "\n");
        text.append("models loaded and closed: " + outcome.loads() + "\n");
        text.append("unplanned predictions: " + outcome.unplanned() + "\n");
        text.append("seconds: " + seconds + "\n\n");
        text.append("resident MB after each tenth:");
        text.append(megabytes(outcome.residentBytes()));
        text.append("\ngrowth after the first tenth, MB:").append(megabytes(List.of(growth)));
        return text.append('\n').toString();
    }

    private static long growth(Outcome outcome) {
        List<Long> resident = outcome.residentBytes();
        return Collections.max(resident) - resident.get(0);
    }

    private static String megabytes(List<Long> bytes) {
        StringBuilder text = new StringBuilder();
        bytes.forEach(b -> text.append(String.format(Locale.ROOT, " %.1f", b / 1e6)));
        return text.toString();
    }
}
