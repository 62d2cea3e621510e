package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProfilerTest {

    private static final double MILLI = 1e6;
    private static final long MB = 1_000_000;
    private static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());

    /**
     * Returns three partitions of 10, 5 and 20 ms on the CPU, and of the given times in the
     * delegate.
     */
    private static ChainTruth truth(double first, double second, double third) {
        ChainTruth truth = new ChainTruth(1, 1, 1);
        double[] cpu = {10, 5, 20};
        double[] delegate = {first, second, third};
        for (int p = 0; p < 3; p++) {
            truth.cpuNanos[2 * p] = MILLI * cpu[p];
            truth.delegateNanos[2 * p] = MILLI * delegate[p];
            truth.operatorBytes[2 * p] = 4 * MB * (p + 1);
        }
        truth.cpuBytes = 10 * MB;
        truth.kernelBytes = MB;
        return truth;
    }

    private static Request request(
            SimulatedRunner runner, Goal goal, List<Integer> threads, Duration budget) {
        return new Request(runner.graph(), goal, threads, Optional.of(budget), Tolerance.AUTO);
    }

    private static Request request(SimulatedRunner runner, Goal goal) {
        return request(runner, goal, List.of(1), Duration.ofHours(1));
    }

    private static ProfileTable profile(SimulatedRunner runner, Goal goal)
            throws InterruptedException {
        return profile(runner, request(runner, goal));
    }

    private static ProfileTable profile(SimulatedRunner runner, Request request)
            throws InterruptedException {
        return Profiler.profile(request, runner, Optional.empty(), early -> {}, runner::nowNanos);
    }

    private static SimulatedRunner runner(Truth truth) {
        return new SimulatedRunner(truth, 0.01, 5);
    }

    @Test
    void profile_mixedPartitions_choosesThoseThatPay() throws InterruptedException {
        ChainTruth truth = truth(2, 9, 3);

        ProfileTable table = profile(runner(truth), LATENCY);

        assertEquals(truth.union(Set.of(0, 2)), table.chosen());
        assertEquals(3, table.partitions().size());
        assertTrue(
                table.reason()
                        .matches(
                                "2 of 3 partitions: [0-9.]+ ms, 1\\.[0-9]+ times as fast as all"
                                        + " partitions, 3\\.[0-9]+ times as fast as the CPU kernels"),
                table::reason);
    }

    @Test
    void profile_anyModel_countsInferences() throws InterruptedException {
        SimulatedRunner runner = runner(truth(2, 9, 3));

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(runner.inferences(), table.inferences());
        assertEquals(runner.nowNanos(), table.nanos());
        assertEquals(runner.everPrepared().size(), table.entries().size());
        assertTrue(table.inferences() <= 80 + 6, table.inferences() + " inferences");
    }

    @Test
    void profile_delegateSlowerThanCpu_choosesTheCpu() throws InterruptedException {
        ProfileTable table = profile(runner(truth(11, 6, 21)), LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertTrue(table.reason().startsWith("the CPU kernels: "), table::reason);
    }

    @Test
    void profile_partitionGoodInPart_isCut() throws InterruptedException {
        ChainTruth truth = new ChainTruth(6);
        for (int operator = 0; operator < 6; operator++) {
            truth.cpuNanos[operator] = 5 * MILLI;
            truth.delegateNanos[operator] = (operator < 3 ? 1 : 12) * MILLI;
        }

        ProfileTable table = profile(runner(truth), LATENCY);

        double whole = Math.min(truth.bestNanos(), truth.nanos(Candidate.cpu(1)));
        assertTrue(truth.nanos(table.chosen()) < 0.8 * whole, table::reason);
        assertTrue(table.reason().contains("operators of the only partition"), table::reason);
    }

    @Test
    void profile_withMemoryLimit_choosesTheFastestWithinIt() throws InterruptedException {
        // All: 10 + 24 + 3 MB. The first and the last: 28 MB, the last alone: 23 MB.
        ChainTruth truth = truth(2, 1, 3);
        Goal limited = new Goal(Objective.LATENCY, OptionalLong.of(25 * MB));

        ProfileTable table = profile(runner(truth), limited);

        assertEquals(truth.union(Set.of(2)), table.chosen());
        assertTrue(table.reason().contains(" in 23.0 MB"), table::reason);
    }

    @Test
    void profile_withLimitBelowTheCpu_choosesTheCpuAndSaysSo() throws InterruptedException {
        Goal limited = new Goal(Objective.LATENCY, OptionalLong.of(5 * MB));

        ProfileTable table = profile(runner(truth(2, 1, 3)), limited);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals("the CPU kernels: no candidate is within the memory limit", table.reason());
    }

    @Test
    void profile_memoryUnknown_honoursALimitWithTheCpu() throws InterruptedException {
        ChainTruth truth = truth(2, 1, 3);
        truth.cpuBytes = -1000 * MB;
        Goal limited = new Goal(Objective.LATENCY, OptionalLong.of(5 * MB));

        ProfileTable table = profile(runner(truth), limited);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals("the CPU kernels: memory cannot be measured here", table.reason());
    }

    @Test
    void profile_forMemory_choosesTheSmallestAndOfThoseTheFastest() throws InterruptedException {
        // Delegating the first two partitions shrinks the arena by more than the packed weights
        // add.
        ChainTruth truth = truth(2, 1, 3);
        truth.operatorBytes[0] = -3 * MB;
        truth.operatorBytes[2] = -MB;
        Goal memory = new Goal(Objective.MEMORY, OptionalLong.empty());

        ProfileTable table = profile(runner(truth), memory);

        assertEquals(truth.union(Set.of(0, 1)), table.chosen());
    }

    @Test
    void profile_balanced_choosesTheLeastProduct() throws InterruptedException {
        // CPU 35 ms in 10 MB; the first 27 in 15; first and last 10 in 28; all 6 in 37: 222.
        ChainTruth truth = truth(2, 1, 3);
        Goal balanced = new Goal(Objective.BALANCED, OptionalLong.empty());
        assertEquals(truth.union(Set.of(0, 1, 2)), profile(runner(truth), balanced).chosen());

        // Now all takes 6 in 137 and the last alone 18 in 23: 414; first and last 10 in 28: 280.
        truth.operatorBytes[2] = 108 * MB;
        assertEquals(truth.union(Set.of(0, 2)), profile(runner(truth), balanced).chosen());
    }

    @Test
    void profile_partitionWrong_isLeftOutAndRecorded() throws InterruptedException {
        ChainTruth truth = truth(2, 1, 3);
        SimulatedRunner runner = runner(truth).wrong(2, ElementType.FLOAT32, 1e-3);

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(truth.union(Set.of(0, 2)), table.chosen());
        assertTrue(
                table.entries().stream()
                        .filter(Entry.Wrong.class::isInstance)
                        .anyMatch(e -> e.candidate().equals(truth.union(Set.of(1)))));
        assertTrue(table.reason().contains("outputs outside the tolerance"), table::reason);
    }

    @Test
    void profile_oneStepOff_isRightForQuantizedTypesOnly() throws InterruptedException {
        ChainTruth truth = truth(2, 1, 3);
        Candidate all = truth.union(Set.of(0, 1, 2));

        for (ElementType type : List.of(ElementType.INT8, ElementType.UINT8, ElementType.INT16)) {
            SimulatedRunner runner = runner(truth).wrong(2, type, 1);
            assertEquals(all, profile(runner, LATENCY).chosen());
        }
        SimulatedRunner labels = runner(truth).wrong(2, ElementType.INT64, 1);
        assertEquals(truth.union(Set.of(0, 2)), profile(labels, LATENCY).chosen());
        SimulatedRunner manySteps = runner(truth).wrong(2, ElementType.INT8, 9);
        assertEquals(truth.union(Set.of(0, 2)), profile(manySteps, LATENCY).chosen());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void profile_partitionFails_isLeftOutAndRecorded(Kind kind) throws InterruptedException {
        ChainTruth truth = truth(2, 1, 3);
        SimulatedRunner runner = runner(truth).failing(4, kind);

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(truth.union(Set.of(0, 1)), table.chosen());
        List<Entry> failed =
                table.entries().stream().filter(Entry.Failed.class::isInstance).toList();
        assertEquals(
                List.of(truth.union(Set.of(0, 1, 2)), truth.union(Set.of(2))),
                failed.stream().map(Entry::candidate).toList());
        assertTrue(failed.stream().allMatch(e -> e instanceof Entry.Failed f && f.kind() == kind));
    }

    @Test
    void profile_operatorFails_onlyItsPieceIsLeftOut() throws InterruptedException {
        ChainTruth truth = new ChainTruth(8);
        Arrays.fill(truth.cpuNanos, 5 * MILLI);
        SimulatedRunner runner = runner(truth).failing(0, Kind.CRASHED);

        ProfileTable table = profile(runner, LATENCY);

        assertFalse(table.chosen().operators().contains(0));
        assertTrue(table.chosen().operators().size() >= 4, table::reason);
    }

    @Test
    void profile_operatorsKnownToBeWrong_theyAloneAreLeftOut() throws InterruptedException {
        ChainTruth truth = new ChainTruth(8);
        Arrays.fill(truth.cpuNanos, 5 * MILLI);
        SimulatedRunner runner = runner(truth).wrongAndNamed(2).wrongAndNamed(5);

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(Set.of(0, 1, 3, 4, 6, 7), table.chosen().operators());
        assertEquals(2, table.entries().stream().filter(Entry.Wrong.class::isInstance).count());
    }

    @Test
    void profile_everyOperatorKnownToBeWrong_choosesTheCpu() throws InterruptedException {
        ChainTruth truth = new ChainTruth(2, 2);
        Arrays.fill(truth.cpuNanos, MILLI);
        SimulatedRunner runner = runner(truth);
        truth.partitions().forEach(p -> p.forEach(runner::wrongAndNamed));

        assertEquals(Candidate.cpu(1), profile(runner, LATENCY).chosen());
    }

    @Test
    void profile_everythingCrashes_stopsSoonOnTheCpu() throws InterruptedException {
        ChainTruth truth = new ChainTruth(2, 2, 2, 2, 2, 2, 2, 2);
        Arrays.fill(truth.cpuNanos, MILLI);
        SimulatedRunner runner = runner(truth);
        truth.partitions().forEach(p -> p.forEach(o -> runner.failing(o, Kind.CRASHED)));

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals(
                Trials.MOST_CRASHES,
                table.entries().stream().filter(Entry.Failed.class::isInstance).count());
        assertTrue(table.reason().contains("4 candidates cannot be used"), table::reason);
    }

    @Test
    void profile_crashWhileTimed_choosesAmongTheRest() throws InterruptedException {
        ChainTruth truth = truth(2, 1, 3);
        SimulatedRunner runner = runner(truth).crashingWhenTimed(truth.union(Set.of(0, 1, 2)));

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(truth.union(Set.of(0, 2)), table.chosen());
    }

    @Test
    void profile_cpuFails_choosesTheCpuWithTheReason() throws InterruptedException {
        SimulatedRunner runner = runner(truth(2, 1, 3)).failingOnTheCpu(Kind.REFUSED);

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals(
                "the CPU kernels: nothing could be measured; 1 candidates cannot be used (no CPU)",
                table.reason());
        assertEquals(Optional.empty(), table.caveat());
    }

    /** As in a container that has almost no processor time while it starts. */
    @ParameterizedTest
    @EnumSource(names = {"CRASHED", "TIMED_OUT"})
    void profile_noProcessAnswers_asksToMeasureAgain(Kind kind) throws InterruptedException {
        ProfileTable table = profile(runner(truth(2, 1, 3)).failingOnTheCpu(kind), LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertTrue(table.caveat().isPresent());
    }

    /** All delegated takes 9 ms in 37 MB; with buffers for each prediction 9.9 ms in 25 MB. */
    private static ChainTruth transientTruth() {
        ChainTruth truth = truth(2, 2, 5);
        truth.transientFactor = 1.1;
        truth.transientPart = .5;
        return truth;
    }

    /** Profiles with a delegate that can build its buffers for each prediction. */
    private static ProfileTable profileTransient(
            SimulatedRunner runner, Goal goal, Integer... threads) throws InterruptedException {
        return profile(
                runner,
                new Request(
                        runner.graph(),
                        goal,
                        List.of(threads),
                        Optional.of(Duration.ofHours(1)),
                        Tolerance.AUTO,
                        true,
                        Set.of(),
                        List.of()));
    }

    @Test
    void profile_limitThatOnlyTransientBuffersKeep_choosesThem() throws InterruptedException {
        ChainTruth truth = transientTruth();
        Candidate all = truth.union(Set.of(0, 1, 2));
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.of(26 * MB));

        ProfileTable table = profileTransient(runner(truth), goal, 1);

        assertEquals(all.withTransientBuffers(), table.chosen());
        assertTrue(
                table.reason()
                        .matches(
                                "3 of 3 partitions, buffers built for each prediction: [0-9.]+ ms"
                                        + " in 25\\.0 MB, (0\\.9[0-9]+ times )?as fast as with buffers"
                                        + " that are kept \\(37\\.0 MB\\), .*"),
                table::reason);
    }

    @Test
    void profile_noSetExceedsTheLimit_choosesPermanentBuffers() throws InterruptedException {
        ChainTruth truth = transientTruth();
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.of(40 * MB));

        ProfileTable table = profileTransient(runner(truth), goal, 1);

        assertEquals(truth.union(Set.of(0, 1, 2)), table.chosen());
    }

    @Test
    void profile_balanced_weighsTransientBuffers() throws InterruptedException {
        ChainTruth truth = transientTruth();
        Goal goal = new Goal(Objective.BALANCED, OptionalLong.empty());

        assertTrue(profileTransient(runner(truth), goal, 1).chosen().transientBuffers());
        truth.transientFactor = 1.8;
        assertFalse(profileTransient(runner(truth), goal, 1).chosen().transientBuffers());
    }

    @Test
    void profile_latencyAlone_triesNoTransientBuffers() throws InterruptedException {
        SimulatedRunner runner = runner(transientTruth());

        ProfileTable table = profileTransient(runner, LATENCY, 1);

        assertFalse(table.chosen().transientBuffers());
        assertTrue(runner.everPrepared().stream().noneMatch(Candidate::transientBuffers));
    }

    @Test
    void profile_severalThreadsInLittleMemory_keepsTransientBuffers() throws InterruptedException {
        ChainTruth truth = transientTruth();
        truth.threadsFactor = .6;
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.of(26 * MB));

        ProfileTable table = profileTransient(runner(truth), goal, 1, 2);

        Candidate all = truth.union(Set.of(0, 1, 2)).withTransientBuffers();
        assertEquals(all.withThreads(2), table.chosen());
        assertEquals(List.of(all), table.lighter());
    }

    @Test
    void profile_noPartitions_choosesTheCpu() throws InterruptedException {
        ChainTruth truth = new ChainTruth();

        ProfileTable table = profile(runner(truth), LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals(0, table.inferences());
    }

    @Test
    void profile_severalThreads_choosesThemToo() throws InterruptedException {
        ChainTruth truth = truth(2, 9, 3);
        truth.threadsFactor = 0.6;
        SimulatedRunner runner = runner(truth);

        ProfileTable table =
                profile(runner, request(runner, LATENCY, List.of(1, 2), Duration.ofHours(1)));

        assertEquals(new Candidate(truth.union(Set.of(0, 2)).operators(), 2), table.chosen());
        assertTrue(table.reason().contains(" on 2 threads: "), table::reason);
    }

    /**
     * The first turn of the race is disturbed, so the delegate seems slower than the CPU kernels.
     */
    @Test
    void profile_delegateIsDisturbedInTheRace_winsAgain() throws InterruptedException {
        ChainTruth truth = new ChainTruth(4);
        Arrays.fill(truth.cpuNanos, 5 * ChainTruth.MILLI);
        Arrays.fill(truth.delegateNanos, 2 * ChainTruth.MILLI);
        SimulatedRunner runner = runner(truth).disturbedInTurns(Candidate::delegates, 1, 2);

        ProfileTable table = profile(runner, LATENCY);

        assertTrue(table.chosen().delegates(), table::reason);
    }

    /** With a caveat, the model is measured again when the machine is quiet. */
    @Test
    void profile_delegateIsDisturbedInBothRaces_hasACaveat() throws InterruptedException {
        ChainTruth truth = new ChainTruth(4);
        Arrays.fill(truth.cpuNanos, 5 * ChainTruth.MILLI);
        Arrays.fill(truth.delegateNanos, 2 * ChainTruth.MILLI);
        SimulatedRunner runner = runner(truth).disturbedInTurns(Candidate::delegates, 1, 3);

        ProfileTable table = profile(runner, LATENCY);

        assertTrue(table.chosen().isStock(), table::reason);
        assertTrue(table.caveat().orElseThrow().contains("another set was faster"));
    }

    @Test
    void profile_cpuKernelsAreDisturbedInBothRaces_hasACaveat() throws InterruptedException {
        ChainTruth truth = new ChainTruth(4);
        Arrays.fill(truth.cpuNanos, 2 * ChainTruth.MILLI);
        Arrays.fill(truth.delegateNanos, 5 * ChainTruth.MILLI);
        SimulatedRunner runner = runner(truth).disturbedInTurns(Candidate::isStock, 1, 3);

        ProfileTable table = profile(runner, LATENCY);

        assertTrue(table.chosen().delegates(), table::reason);
        assertTrue(table.caveat().orElseThrow().contains("another set was faster"));
    }

    @Test
    void profile_littleTime_endsSoonAfterIt() throws InterruptedException {
        ChainTruth truth = truth(2, 9, 3);
        SimulatedRunner runner = runner(truth);

        ProfileTable table =
                profile(runner, request(runner, LATENCY, List.of(1), Duration.ofMillis(300)));

        // The required steps, and some turns for the candidates that may be the best.
        assertTrue(runner.nowNanos() < 900 * MILLI, runner.nowNanos() + " ns");
        assertTrue(table.chosen().delegates(), table::reason);
    }

    @Test
    void profile_interrupted_leavesAtOnce() {
        SimulatedRunner runner = runner(truth(2, 9, 3)).interruptedAfter(20);

        assertThrows(InterruptedException.class, () -> profile(runner, LATENCY));
        assertEquals(20, runner.inferences());
    }

    @Test
    void progress_goesFromNothingToItsEnd() throws InterruptedException {
        SimulatedRunner runner = runner(truth(2, 9, 3));
        Recorded progress = new Recorded();

        Profiler.profile(
                request(runner, LATENCY),
                runner,
                Optional.of(progress),
                early -> {},
                runner::nowNanos);

        assertAll(
                () -> assertEquals("Profiling sketch", progress.message),
                () -> assertEquals(progress.percent.stream().sorted().toList(), progress.percent),
                () -> assertTrue(progress.percent.stream().allMatch(p -> p >= 0 && p < 100)),
                () -> assertTrue(progress.percent.size() > 5),
                () -> assertTrue(progress.ended));
    }

    /** Records the progress that a profiler reports. */
    private static final class Recorded implements Progress {
        private final List<Long> percent = new ArrayList<>();
        private String message = "";
        private boolean ended;

        @Override
        public void reset(String message, long max, String trailingMessage) {
            this.message = message;
            assertEquals(100, max);
        }

        @Override
        public void start(long initialProgress) {
            assertEquals(0, initialProgress);
        }

        @Override
        public void end() {
            ended = true;
        }

        @Override
        public void increment(long increment) {
            throw new AssertionError("not used");
        }

        @Override
        public void update(long progress, String message) {
            percent.add(progress);
        }
    }
}
