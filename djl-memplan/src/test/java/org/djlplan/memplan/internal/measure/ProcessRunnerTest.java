package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.measure.FakeMeasuringProcess.Start;
import org.djlplan.memplan.internal.measure.FakeRunner.Behaviour;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.NoRoomException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ProcessRunnerTest {

    private static final OpenModelRequest MODEL =
            new OpenModelRequest(
                    Path.of("model.tflite"),
                    "a file",
                    "xnnpack",
                    Tolerance.AUTO,
                    Path.of("libtensorflowlite_jni.so"),
                    new MemoryNeed(64 << 20, 1 << 20),
                    Optional.empty());

    /** Long enough on any machine. */
    static final Duration LONG = Duration.ofSeconds(60);

    static final Limits PATIENT = new Limits(LONG, LONG, LONG, 20, 8);

    static final Candidate GOOD = Behaviour.GOOD.candidate();

    @TempDir private Path folder;

    static ProcessRunner start(Limits limits) throws IOException {
        return start(Start.GOOD, limits);
    }

    static ProcessRunner start(Start how, Limits limits) throws IOException {
        return start(jvm(how), limits, Urgency.AWAITED);
    }

    private static ProcessRunner start(MeasuringJvm jvm, Limits limits, Urgency urgency)
            throws IOException {
        return ProcessRunner.start(MODEL, jvm, limits, urgency, new Machine());
    }

    static MeasuringJvm jvm(Start how) {
        return new MeasuringJvm(
                JavaCommand.ofThisJvm(),
                FakeMeasuringProcess.class.getName(),
                List.of(how.name()),
                List.of(testClasses()));
    }

    private static Path testClasses() {
        try {
            return Path.of(
                    FakeMeasuringProcess.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    static long pid(ProcessRunner runner) {
        return runner.pid().orElseThrow();
    }

    static boolean ends(long pid) throws Exception {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        if (process.isPresent()) {
            ProcessHandle unused = process.get().onExit().get(1, TimeUnit.MINUTES);
        }
        return ProcessHandle.of(pid).isEmpty();
    }

    @Test
    void all_goodCandidate_isAsInTheProcess() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            Set<Integer> many =
                    IntStream.range(0, FakeRunner.OPERATORS).boxed().collect(Collectors.toSet());
            assertEquals(List.of(many), runner.partitions());
            Candidate large = new Candidate(ImmutableSortedSet.copyOf(many), -1);
            Trial trial = runner.prepare(large);
            assertEquals(
                    new Trial(
                            1,
                            List.of(
                                    new OutputError(ElementType.FLOAT32, Double.POSITIVE_INFINITY),
                                    new OutputError(ElementType.UINT8, 0)
                                            .withOperators(
                                                    new ByOperator(7, Double.POSITIVE_INFINITY)),
                                    new OutputError(ElementType.FLOAT32, Math.nextUp(1e-7))),
                            pid(runner),
                            1),
                    trial);
            assertEquals(trial, runner.prepare(large));
            assertArrayEquals(new long[] {1, 1, 1}, runner.time(large, 3));
            assertEquals(
                    List.of(
                            new NodeTime(large.operators(), true, Long.MAX_VALUE),
                            new NodeTime(ImmutableSortedSet.of(FakeRunner.OPERATORS), false, 5)),
                    runner.profile(large, 5));
        }
    }

    @Test
    void release_prepared_isReleasedInTheProcess() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            runner.prepare(GOOD);
            runner.prepare(Behaviour.GOOD.candidate(1));
            runner.release(GOOD);
            assertArrayEquals(new long[] {1}, runner.time(Behaviour.GOOD.candidate(1), 1));
        }
    }

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
            String files = refusal(runner);
            CandidateException e =
                    assertThrows(
                            CandidateException.class, () -> runner.prepare(behaviour.candidate()));
            assertEquals(Kind.CRASHED, e.kind());
            assertTrue(e.getMessage().contains(how), e.getMessage());
            assertEquals(1, e.getMessage().lines().count());
            assertTrue(e.getMessage().length() < 500, e.getMessage());
            assertFalse(Files.exists(Path.of(files)));
        }
    }

    /** The message of a refusal is the folder of the process. */
    private static String refusal(ProcessRunner runner) {
        Candidate refused = Behaviour.REFUSED_WHEN_PREPARED.candidate();
        CandidateException e =
                assertThrows(CandidateException.class, () -> runner.prepare(refused));
        assertEquals(Kind.REFUSED, e.kind());
        return e.getMessage();
    }

    @Test
    void prepare_refused_processContinues() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            long before = pid(runner);
            assertTrue(Files.isDirectory(Path.of(refusal(runner))));
            assertEquals(before, pid(runner));
        }
    }

    @Test
    void time_exception_isRefused() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            Candidate candidate = Behaviour.EXCEPTION_WHEN_TIMED.candidate();
            runner.prepare(candidate);
            CandidateException e =
                    assertThrows(CandidateException.class, () -> runner.time(candidate, 1));
            assertEquals(Kind.REFUSED, e.kind());
            assertTrue(e.getMessage().contains("the engine failed"), e.getMessage());
        }
    }

    @Test
    void time_garbageOnOutput_isIgnoredAndPartlyLogged() throws Exception {
        try (LogCapture log = new LogCapture();
                ProcessRunner runner = start(PATIENT)) {
            Candidate candidate = Behaviour.BABBLE_WHEN_TIMED.candidate();
            runner.prepare(candidate);
            assertArrayEquals(new long[] {1, 1}, runner.time(candidate, 2));
            Await.until(() -> log.ours("INFO").size() >= 490);
            String lines = log.ours("INFO").toString();
            assertFalse(lines.contains("the engine's"), lines);
            assertTrue(log.ours("INFO").size() <= 500, lines);
        }
    }

    @Test
    void prepare_tooManyDeaths_allAreCrashed() throws Exception {
        Limits limits = new Limits(LONG, LONG, LONG, 20, 1);
        try (ProcessRunner runner = start(limits)) {
            for (int i = 0; i < 2; i++) {
                Candidate candidate = Behaviour.HALT_WHEN_PREPARED.candidate(i);
                assertThrows(CandidateException.class, () -> runner.prepare(candidate));
            }
            CandidateException e =
                    assertThrows(CandidateException.class, () -> runner.prepare(GOOD));
            assertEquals(Kind.CRASHED, e.kind());
            assertTrue(e.getMessage().contains("2 processes died"), e.getMessage());
            assertTrue(runner.pid().isEmpty());
        }
    }

    @Test
    void prepare_interrupted_processEnds() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            long pid = pid(runner);
            Thread caller = Thread.currentThread();
            CompletableFuture<Void> interrupt =
                    CompletableFuture.runAsync(
                            caller::interrupt,
                            CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS));
            Candidate hanging = Behaviour.HANG_WHEN_PREPARED.candidate();
            assertThrows(InterruptedException.class, () -> runner.prepare(hanging));
            interrupt.get();
            assertTrue(ends(pid));
            runner.release(GOOD);
            assertThrows(IllegalStateException.class, () -> runner.prepare(GOOD));
        }
    }

    @Test
    void start_interrupted_throwsAndStaysInterrupted() {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, () -> start(PATIENT));
        assertTrue(Thread.interrupted());
    }

    @Test
    void close_anyNumberOfTimes_leavesNoProcess() throws Exception {
        ProcessRunner runner = start(PATIENT);
        long pid = pid(runner);
        String files = refusal(runner);
        runner.close();
        runner.close();
        assertTrue(ends(pid));
        assertFalse(Files.exists(Path.of(files)));
    }

    @Test
    void start_classIsNotOnTheClassPath_throws() {
        MeasuringJvm unknown =
                new MeasuringJvm(
                        JavaCommand.ofThisJvm(), "org.djlplan.Absent", List.of(), List.of());
        IOException e =
                assertThrows(IOException.class, () -> start(unknown, PATIENT, Urgency.AWAITED));
        assertTrue(e.getMessage().contains("ClassNotFoundException"), e.getMessage());
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
            NoRoomException e =
                    assertThrows(
                            NoRoomException.class, () -> runner.prepare(behaviour.candidate()));
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
            assertThrows(CandidateException.class, () -> runner.prepare(fatal));
            NoRoomException e = assertThrows(NoRoomException.class, () -> runner.prepare(GOOD));
            assertFalse(e.killed());
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
        OpenModelRequest large =
                new OpenModelRequest(
                        MODEL.file(),
                        MODEL.identity(),
                        MODEL.delegate(),
                        MODEL.tolerance(),
                        MODEL.engineLibrary(),
                        new MemoryNeed(64 << 20, 64 << 20),
                        Optional.empty());
        try (ProcessRunner runner =
                ProcessRunner.start(
                        large, jvm(Start.GOOD), PATIENT, Urgency.AWAITED, new Machine(folder))) {
            Candidate fatal = Behaviour.HALT_WHEN_PREPARED.candidate();
            NoRoomException first =
                    assertThrows(NoRoomException.class, () -> runner.prepare(fatal));
            assertEquals(
                    "40 MB of memory are left, another candidate may need 64", first.getMessage());
            assertFalse(first.killed());
            Files.writeString(group.resolve("memory.max"), "max\n");
            for (int i = 1; i <= 3; i++) {
                assertEquals(i, runner.prepare(Behaviour.GOOD.candidate(i)).kernels());
            }
            Files.writeString(group.resolve("memory.max"), (256 << 20) + "\n");
            CandidateException e =
                    assertThrows(CandidateException.class, () -> runner.prepare(fatal));
            assertEquals(Kind.REFUSED, e.kind());
        }
    }

    @Test
    void start_inBackground_hasTheLeastPriorityAndIsEndedFirst() throws Exception {
        try (ProcessRunner runner = start(jvm(Start.GOOD), PATIENT, Urgency.IN_BACKGROUND)) {
            runner.prepare(GOOD);
            assertArrayEquals(new long[] {1}, runner.time(GOOD, 1));
            assertTrue(runner.workedNanos() > 0);
            Path process = Path.of("/proc", Long.toString(pid(runner)));
            assertEquals("1000", Files.readString(process.resolve("oom_score_adj")).strip());
            int alive = 0;
            try (Stream<Path> threads = Files.list(process.resolve("task"))) {
                for (Path thread : threads.toList()) {
                    String stat;
                    try {
                        stat = Files.readString(thread.resolve("stat"));
                    } catch (NoSuchFileException e) {
                        continue; // it has ended
                    }
                    assertEquals("19", niceness(stat), stat);
                    alive++;
                }
            }
            assertTrue(alive > 1, alive + " threads");
        }
    }

    /** Returns field 19; the second field is the command's name and ends with a parenthesis. */
    private static String niceness(String stat) {
        return Splitter.on(' ').splitToList(stat.substring(stat.lastIndexOf(')') + 2)).get(19 - 3);
    }

    @Test
    void start_awaited_hasThePriorityOfThisProcess() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid(runner)), "stat"));
            String own = Files.readString(Path.of("/proc/self/stat"));
            assertEquals(niceness(own), niceness(stat), stat);
        }
    }

    @Test
    void start_secretsInProperties_areNotOnTheCommandLineAndOnlyListedOnesArriveByThePipe()
            throws Exception {
        System.setProperty("ai.djl.repository.token", "secret-1");
        System.setProperty("jna.library.path", "/secret-2");
        try (ProcessRunner runner = start(PATIENT)) {
            Path process = Path.of("/proc", Long.toString(pid(runner)));
            String told =
                    Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1)
                            + Files.readString(
                                    process.resolve("environ"), StandardCharsets.ISO_8859_1);
            assertFalse(told.contains("secret"), told);
            CandidateException e =
                    assertThrows(
                            CandidateException.class,
                            () -> runner.prepare(Behaviour.TELLS_PROPERTIES.candidate()));
            assertEquals("null /secret-2", e.getMessage());
        } finally {
            System.clearProperty("ai.djl.repository.token");
            System.clearProperty("jna.library.path");
        }
    }
}
