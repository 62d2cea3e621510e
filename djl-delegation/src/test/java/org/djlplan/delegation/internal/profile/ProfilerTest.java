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
import java.util.function.Predicate;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.spi.Candidate;
import org.junit.jupiter.api.Test;

class ProfilerTest extends ProfilerTests {

    private static void assertCpu(ProfileTable table, String reason) {
        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals("the CPU kernels: " + reason, table.reason());
    }

    @Test
    void profile_mixedPartitions_choosesThoseThatPay() throws InterruptedException {
        ChainTruth truth = truth(2, 9, 3);

        ProfileTable table = profile(truth, LATENCY);

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
        ProfileTable table = profile(truth(11, 6, 21), LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertTrue(table.reason().startsWith("the CPU kernels: "), table::reason);
    }

    @Test
    void profile_partitionGoodInPart_isCut() throws InterruptedException {
        ChainTruth truth = new ChainTruth(6);
        Arrays.fill(truth.cpuNanos, 5 * MILLI);
        Arrays.fill(truth.delegateNanos, 0, 3, MILLI);
        Arrays.fill(truth.delegateNanos, 3, 6, 12 * MILLI);

        ProfileTable table = profile(truth, LATENCY);

        double whole = Math.min(truth.bestNanos(), truth.nanos(Candidate.cpu(1)));
        assertTrue(truth.nanos(table.chosen()) < 0.8 * whole, table::reason);
        assertTrue(table.reason().contains("operators of the only partition"), table::reason);
    }

    @Test
    void profile_withMemoryLimit_choosesTheFastestWithinIt() throws InterruptedException {
        // All: 10 + 24 + 3 MB. The first and the last: 28 MB, the last alone: 23 MB.
        ChainTruth truth = truth(2, 1, 3);

        ProfileTable table = profile(truth, within(25));

        assertEquals(truth.union(Set.of(2)), table.chosen());
        assertTrue(table.reason().contains(" in 23.0 MB"), table::reason);
    }

    @Test
    void profile_withLimitBelowTheCpu_choosesTheCpuAndSaysSo() throws InterruptedException {
        assertCpu(profile(truth(2, 1, 3), within(5)), "no candidate is within the memory limit");
    }

    @Test
    void profile_memoryUnknown_honoursALimitWithTheCpu() throws InterruptedException {
        ChainTruth truth = truth(2, 1, 3);
        truth.cpuBytes = -1000 * MB;

        assertCpu(profile(truth, within(5)), "memory cannot be measured here");
    }

    @Test
    void profile_forMemory_choosesTheSmallestAndOfThoseTheFastest() throws InterruptedException {
        // Delegating the first two partitions shrinks the arena by more than the packed weights
        // add.
        ChainTruth truth = truth(2, 1, 3);
        truth.operatorBytes[0] = -3 * MB;
        truth.operatorBytes[2] = -MB;

        ProfileTable table = profile(truth, new Goal(Objective.MEMORY, OptionalLong.empty()));

        assertEquals(truth.union(Set.of(0, 1)), table.chosen());
    }

    @Test
    void profile_balanced_choosesTheLeastProduct() throws InterruptedException {
        // CPU 35 ms in 10 MB; the first 27 in 15; first and last 10 in 28; all 6 in 37: 222.
        ChainTruth truth = truth(2, 1, 3);
        assertEquals(truth.union(Set.of(0, 1, 2)), profile(truth, BALANCED).chosen());

        // Now all takes 6 in 137 and the last alone 18 in 23: 414; first and last 10 in 28: 280.
        truth.operatorBytes[2] = 108 * MB;
        assertEquals(truth.union(Set.of(0, 2)), profile(truth, BALANCED).chosen());
    }

    /** All delegated takes 9 ms in 37 MB; with buffers for each prediction 9.9 ms in 25 MB. */
    private static ChainTruth transientTruth() {
        ChainTruth truth = truth(2, 2, 5);
        truth.transientFactor = 1.1;
        truth.transientPart = .5;
        return truth;
    }

    @Test
    void profile_limitThatOnlyTransientBuffersKeep_choosesThem() throws InterruptedException {
        ChainTruth truth = transientTruth();
        Candidate all = truth.union(Set.of(0, 1, 2));

        ProfileTable table = profileTransient(runner(truth), within(26), 1);

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

        ProfileTable table = profileTransient(runner(truth), within(40), 1);

        assertEquals(truth.union(Set.of(0, 1, 2)), table.chosen());
    }

    @Test
    void profile_balanced_weighsTransientBuffers() throws InterruptedException {
        ChainTruth truth = transientTruth();

        assertTrue(profileTransient(runner(truth), BALANCED, 1).chosen().transientBuffers());
        truth.transientFactor = 1.8;
        assertFalse(profileTransient(runner(truth), BALANCED, 1).chosen().transientBuffers());
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

        ProfileTable table = profileTransient(runner(truth), within(26), 1, 2);

        Candidate all = truth.union(Set.of(0, 1, 2)).withTransientBuffers();
        assertEquals(all.withThreads(2), table.chosen());
        assertEquals(List.of(all), table.lighter());
    }

    @Test
    void profile_noPartitions_choosesTheCpu() throws InterruptedException {
        ProfileTable table = profile(new ChainTruth(), LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals(0, table.inferences());
    }

    @Test
    void profile_severalThreads_choosesThemToo() throws InterruptedException {
        ChainTruth truth = truth(2, 9, 3);
        truth.threadsFactor = 0.6;
        SimulatedRunner runner = runner(truth);

        ProfileTable table = profile(runner, request(runner, LATENCY, Duration.ofHours(1), 1, 2));

        assertEquals(new Candidate(truth.union(Set.of(0, 2)).operators(), 2), table.chosen());
        assertTrue(table.reason().contains(" on 2 threads: "), table::reason);
    }

    /** Profiles four operators, whose times are in ms, while the race's first turns are slow. */
    private static ProfileTable profileDisturbed(
            double cpu, double delegate, Predicate<Candidate> disturbed, int turns)
            throws InterruptedException {
        ChainTruth truth = new ChainTruth(4);
        Arrays.fill(truth.cpuNanos, cpu * MILLI);
        Arrays.fill(truth.delegateNanos, delegate * MILLI);
        return profile(runner(truth).disturbedInTurns(disturbed, 1, turns), LATENCY);
    }

    /**
     * The first turn of the race is disturbed, so the delegate seems slower than the CPU kernels.
     */
    @Test
    void profile_delegateIsDisturbedInTheRace_winsAgain() throws InterruptedException {
        ProfileTable table = profileDisturbed(5, 2, Candidate::delegates, 2);

        assertTrue(table.chosen().delegates(), table::reason);
    }

    /** With a caveat, the model is measured again when the machine is quiet. */
    @Test
    void profile_delegateIsDisturbedInBothRaces_hasACaveat() throws InterruptedException {
        ProfileTable table = profileDisturbed(5, 2, Candidate::delegates, 3);

        assertTrue(table.chosen().isStock(), table::reason);
        assertTrue(table.caveat().orElseThrow().contains("another set was faster"));
    }

    @Test
    void profile_cpuKernelsAreDisturbedInBothRaces_hasACaveat() throws InterruptedException {
        ProfileTable table = profileDisturbed(2, 5, Candidate::isStock, 3);

        assertTrue(table.chosen().delegates(), table::reason);
        assertTrue(table.caveat().orElseThrow().contains("another set was faster"));
    }

    @Test
    void profile_littleTime_endsSoonAfterIt() throws InterruptedException {
        SimulatedRunner runner = runner(truth(2, 9, 3));

        ProfileTable table = profile(runner, request(runner, LATENCY, Duration.ofMillis(300), 1));

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
    void profile_withProgress_goesFromNothingToItsEnd() throws InterruptedException {
        SimulatedRunner runner = runner(truth(2, 9, 3));
        Recorded progress = new Recorded();

        Profiler.profile(
                request(runner, LATENCY, Duration.ofHours(1), 1),
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
