package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;

/**
 * Tests that a model runs on the CPU kernels if the engine that its delegation needs is not loaded.
 */
class ModelDelegationTest {

    private static final Path FILE = Path.of("folder", "net.tflite");

    private static final PlanOptions OPTIONS =
            PlanOptions.parse(
                    GivenOptions.of(Map.of("memplan.threads", 3), Map.of(), Map.of(), List.of()));

    @Test
    void first_noEngine_isCpuWithOneWarningAndCallsNoProvider() {
        try (LogCapture log = new LogCapture();
                ModelDelegation delegation =
                        new ModelDelegation(
                                FILE,
                                new DelegationProvidersTest.Fitting(),
                                OPTIONS,
                                Optional.empty())) {
            assertEquals(OPTIONS.delegate(), delegation.name());
            assertEquals(List.of(), log.lines(), "nothing is chosen before the model is read");
            DelegationChoice choice = delegation.first(new GraphSketch().build(), "a file");
            assertEquals(Candidate.cpu(3), choice.candidate());
            assertEquals(Origin.UNVERIFIED, choice.origin());
            assertEquals(
                    List.of(FILE + ": nothing is delegated: " + choice.reason()),
                    log.lines("WARN").stream()
                            .map(line -> line.substring(line.indexOf(FILE.toString())))
                            .toList());
        }
    }

    @Test
    void close_nothingChosenAndTwice_doesNothing() {
        ModelDelegation delegation =
                new ModelDelegation(
                        FILE, new DelegationProvidersTest.Fitting(), OPTIONS, Optional.empty());
        delegation.close();
        delegation.close();
    }

    @Test
    void measurable_noEngine_throwsBeforeItReadsTheFile() {
        assertThrows(UnplannableException.class, () -> ModelDelegation.measurable(FILE, OPTIONS));
    }
}
