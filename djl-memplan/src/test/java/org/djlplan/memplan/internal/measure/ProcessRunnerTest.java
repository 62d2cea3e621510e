package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.measure.FakeMeasuringProcess.Start;
import org.djlplan.memplan.internal.measure.FakeRunner.Behaviour;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class ProcessRunnerTest extends ProcessTests {

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
    void prepare_refused_processContinues() throws Exception {
        try (ProcessRunner runner = start(PATIENT)) {
            long before = pid(runner);
            assertTrue(Files.isDirectory(refusal(runner)));
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
        Path files = refusal(runner);
        runner.close();
        runner.close();
        assertTrue(ends(pid));
        assertFalse(Files.exists(files));
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
            CandidateException e = failure(runner, Behaviour.TELLS_PROPERTIES.candidate());
            assertEquals("null /secret-2", e.getMessage());
        } finally {
            System.clearProperty("ai.djl.repository.token");
            System.clearProperty("jna.library.path");
        }
    }
}
