package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.measure.FakeMeasuringProcess.Start;
import org.djlplan.memplan.internal.measure.FakeRunner.Behaviour;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.NoRoomException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests processes that die, that get a signal, or that the memory has no room for. */
class LostProcessTest extends ProcessTests {

    @TempDir private Path folder;

    @Test
    void release_processDies_othersContinue() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            Trial first = runner.prepare(GOOD);
            runner.prepare(Behaviour.NEVER_RELEASED.candidate());
            runner.release(Behaviour.NEVER_RELEASED.candidate());
            assertArrayEquals(new long[] {1}, runner.time(GOOD, 1));
            assertNotEquals(first.memoryBytes(), pid(runner));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HALT_WHEN_TIMED", "BROKEN_REPLY_WHEN_TIMED", "TOO_FEW_TIMES"})
    void time_processIsLost_onlyTheCandidateIs(Behaviour behaviour) throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            Trial first = runner.prepare(GOOD);
            runner.prepare(behaviour.candidate());
            long lost = pid(runner);

            CandidateException e =
                    assertThrows(
                            CandidateException.class, () -> runner.time(behaviour.candidate(), 2));

            assertEquals(Kind.CRASHED, e.kind(), e.getMessage());
            assertTrue(ends(lost));
            assertEquals(first, runner.prepare(GOOD));
            // The new process has prepared this candidate again, and no other.
            assertArrayEquals(new long[] {1, 1}, runner.time(GOOD, 2));
            assertNotEquals(lost, pid(runner));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "HALT_WHEN_PREPARED, exit code 7; its last words: these are my last words",
        "SEGMENTATION_FAULT_WHEN_PREPARED, exit code 1; its last words: SIGSEGV",
        "OUT_OF_MEMORY_WHEN_PREPARED, java.lang.OutOfMemoryError"
    })
    void prepare_processDies_saysHow(Behaviour behaviour, String how) throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            Path files = refusal(runner);
            CandidateException e = failure(runner, behaviour.candidate());
            assertEquals(Kind.CRASHED, e.kind());
            assertTrue(e.getMessage().contains(how), e.getMessage());
            assertEquals(1, e.getMessage().lines().count());
            assertTrue(e.getMessage().length() < 500, e.getMessage());
            assertFalse(Files.exists(files));
        }
    }

    @Test
    void prepare_tooManyDeaths_allAreCrashed() throws Exception {
        Limits limits = new Limits(LONG, LONG, LONG, 20, 1);
        try (ProcessRunner runner = start(limits)) {
            for (int i = 0; i < 2; i++) {
                Candidate candidate = Behaviour.HALT_WHEN_PREPARED.candidate(i);
                assertEquals(Kind.CRASHED, failure(runner, candidate).kind());
            }
            CandidateException e = failure(runner, GOOD);
            assertEquals(Kind.CRASHED, e.kind());
            assertTrue(e.getMessage().contains("2 processes died"), e.getMessage());
            assertTrue(runner.pid().isEmpty());
        }
    }

    /** A terminal and service managers ask all processes of a group to end. */
    @ParameterizedTest
    @CsvSource({
        "KILLED_WHEN_PREPARED, 'was killed (signal 9), not for want of memory'",
        "ASKED_TO_END_WHEN_PREPARED, (signal 15)"
    })
    void prepare_processGetsASignal_isNoCandidatesFault(Behaviour behaviour, String how)
            throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            NoRoomException e = noRoom(runner, behaviour.candidate());
            assertTrue(e.getMessage().contains(how), e.getMessage());
            assertEquals(behaviour == Behaviour.KILLED_WHEN_PREPARED, e.killed());
        }
    }

    @Test
    void prepare_noProcessAfterACrash_isNoCandidatesFault() throws Exception {
        Path java = Files.createSymbolicLink(folder.resolve("java"), JavaCommand.ofThisJvm());
        MeasuringJvm good = jvm(Start.GOOD);
        MeasuringJvm linked =
                new MeasuringJvm(java, good.mainClass(), good.arguments(), good.moreClasses());
        try (ProcessRunner runner = start(linked, PATIENT, Urgency.AWAITED)) {
            Files.delete(java);
            Candidate fatal = Behaviour.HALT_WHEN_PREPARED.candidate();
            assertEquals(Kind.CRASHED, failure(runner, fatal).kind());
            assertFalse(noRoom(runner, GOOD).killed());
        }
    }

    /** A control group of version 2 has 40 MB left, but a candidate needs 64 MB. */
    @Test
    void prepare_groupHasTooLittleLeft_runsNothing() throws Exception {
        Path group = Files.createDirectories(folder.resolve("sys/fs/cgroup"));
        Path self = Files.createDirectories(folder.resolve("proc/self"));
        Files.writeString(self.resolve("cgroup"), "0::/\n");
        Files.writeString(
                self.resolve("mountinfo"), "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        Files.writeString(group.resolve("memory.max"), (256 << 20) + "\n");
        Files.writeString(group.resolve("memory.current"), (216 << 20) + "\n");
        OpenModelRequest large = model(64 << 20);
        try (ProcessRunner runner =
                ProcessRunner.start(
                        large, jvm(Start.GOOD), PATIENT, Urgency.AWAITED, new Machine(folder))) {
            Candidate fatal = Behaviour.HALT_WHEN_PREPARED.candidate();
            NoRoomException first = noRoom(runner, fatal);
            assertEquals(
                    "40 MB of memory are left, another candidate may need 64", first.getMessage());
            assertFalse(first.killed());
            Files.writeString(group.resolve("memory.max"), "max\n");
            for (int i = 1; i <= 3; i++) {
                assertEquals(i, runner.prepare(Behaviour.GOOD.candidate(i)).kernels());
            }
            Files.writeString(group.resolve("memory.max"), (256 << 20) + "\n");
            assertEquals(Kind.REFUSED, failure(runner, fatal).kind());
        }
    }
}
