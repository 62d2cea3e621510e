package org.djlplan.integration.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Stopwatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.torch.TorchSoak.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link TorchSoak} in short with every build, and at length in the Maven profile stress. */
class TorchSoakTest {

    private static final int SHORT_PREDICTIONS = 6_000;
    private static final int WARM_UP_PREDICTIONS = 20_000;
    private static final int LONG_PREDICTIONS = 100_000;
    private static final int LOAD_EVERY = 200;

    /** The engine alone grows by some 10 MB; 200 bytes lost per prediction would be seen. */
    private static final long MAX_GROWTH_BYTES = 16 << 20;

    private static final Path REPORT = Path.of("target", "stress-torch.txt");

    @TempDir Path folder;

    private static Outcome soak(
            List<TorchSoakCase> cases, int loadEvery, int predictions, long seed) throws Exception {
        Outcome outcome = new TorchSoak(cases, loadEvery, predictions, seed).run();
        assertEquals(List.of(), outcome.problems());
        assertTrue(outcome.predictions() >= predictions, outcome.toString());
        assertTrue(outcome.failures() > predictions / 20, outcome.toString());
        assertTrue(outcome.unplanned() > 0, outcome.toString());
        assertTrue(outcome.unplanned() < predictions * 3L / 4, outcome.toString());
        assertEquals(10, outcome.residentBytes().size());
        Torch.assertNoArenas();
        return outcome;
    }

    @Test
    void soak_short_allOutputsEqualStockAndEverythingIsFreed() throws Exception {
        Torch.threads(1);
        Outcome outcome = soak(TorchSoakCase.prepare(folder), LOAD_EVERY, SHORT_PREDICTIONS, 1);
        assertTrue(outcome.loads() > TorchScriptModels.stateless().size(), outcome.toString());
    }

    /**
     * Models are not loaded anew: with every load the engine itself grows, stock more than ours.
     */
    @Test
    @Tag("stress")
    void soak_long_memoryStaysFlat() throws Exception {
        Torch.threads(1);
        List<TorchSoakCase> cases = TorchSoakCase.prepare(folder);
        assertTrue(soak(cases, LOAD_EVERY, WARM_UP_PREDICTIONS, 1).loads() > cases.size());
        Stopwatch watch = Stopwatch.createStarted();
        Outcome outcome = soak(cases, Integer.MAX_VALUE, LONG_PREDICTIONS, 2);
        List<Long> resident = outcome.residentBytes();
        long growth = Collections.max(resident) - resident.get(0);
        Files.writeString(REPORT, report(outcome, growth, watch.elapsed(TimeUnit.SECONDS)));
        assertTrue(growth < MAX_GROWTH_BYTES, "grew by " + growth + " bytes: " + resident);
    }

    private static String report(Outcome outcome, long growth, long seconds) {
        StringBuilder text = new StringBuilder();
        text.append("soak: 8 threads, all TorchScript models at once, random options, shapes,");
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

    private static String megabytes(List<Long> bytes) {
        StringBuilder text = new StringBuilder();
        bytes.forEach(b -> text.append(String.format(Locale.ROOT, " %.1f", b / 1e6)));
        return text.toString();
    }
}
