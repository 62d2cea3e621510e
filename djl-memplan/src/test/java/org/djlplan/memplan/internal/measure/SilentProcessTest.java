package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.measure.FakeMeasuringProcess.Start;
import org.djlplan.memplan.internal.measure.FakeRunner.Behaviour;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.NoRoomException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests processes that do not start, do not answer, or answer late. */
class SilentProcessTest extends ProcessTests {

    private static final Limits IMPATIENT =
            new Limits(LONG, Duration.ofSeconds(3), Duration.ofMillis(500), 20, 8);

    @ParameterizedTest
    @EnumSource(names = {"HANG_WHEN_PREPARED", "HANG_WHEN_TIMED"})
    void any_hangs_isTimedOutAndKilled(Behaviour behaviour) throws Exception {
        try (ProcessRunner runner = start(IMPATIENT)) {
            long hanging = pid(runner);
            CandidateException e =
                    assertThrows(
                            CandidateException.class, () -> runner.time(behaviour.candidate(), 1));
            assertEquals(Kind.TIMED_OUT, e.kind());
            assertTrue(ends(hanging));
            assertEquals(1, runner.prepare(GOOD).kernels());
        }
    }

    @Test
    void time_slowAsEver_isNotTimedOut() throws Exception {
        try (ProcessRunner runner = start(IMPATIENT)) {
            Candidate slow = Behaviour.SLOW.candidate();
            runner.prepare(slow);
            assertEquals(5, runner.time(slow, 5).length);
        }
    }

    /** Other models wait for the measurement, so it does not wait for the continue signal. */
    @Test
    void prepare_processIsStopped_endsItSoon() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            long pid = pid(runner);
            assertEquals(0, new ProcessBuilder("kill", "-STOP", "" + pid).start().waitFor());
            long start = System.nanoTime();
            NoRoomException e = noRoom(runner, GOOD);
            assertTrue(e.getMessage().contains("was stopped"), e.getMessage());
            assertFalse(e.killed());
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(40));
            assertTrue(ends(pid));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SILENT, no answer in 1500 ms",
        "EXIT, ended with exit code 0; its last words: no such library",
        "OTHER_PROTOCOL, speaks another protocol",
        "CANNOT_OPEN, model.tflite is damaged"
    })
    void start_failsInProcess_throws(Start how, String message) {
        Duration patience = how == Start.SILENT ? Duration.ofMillis(1500) : LONG;
        Limits limits = new Limits(patience, LONG, LONG, 20, 8);
        IOException e = assertThrows(IOException.class, () -> start(how, limits));
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }
}
