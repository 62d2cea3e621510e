package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests {@link Profiler} with candidates that are wrong, fail or crash. */
class UnusableCandidatesTest extends ProfilerTests {

    private final ChainTruth truth = truth(2, 1, 3);

    /** Returns partitions of operators that the delegate would compute in no time. */
    private static ChainTruth instant(double cpuMillis, int... operators) {
        ChainTruth truth = new ChainTruth(operators);
        Arrays.fill(truth.cpuNanos, cpuMillis * MILLI);
        return truth;
    }

    private static List<Candidate> candidates(ProfileTable table, Class<? extends Entry> type) {
        return table.entries().stream().filter(type::isInstance).map(Entry::candidate).toList();
    }

    @Test
    void profile_partitionWrong_isLeftOutAndRecorded() throws InterruptedException {
        ProfileTable table = profile(runner(truth).wrong(2, ElementType.FLOAT32, 1e-3), LATENCY);

        assertEquals(truth.union(Set.of(0, 2)), table.chosen());
        assertTrue(candidates(table, Entry.Wrong.class).contains(truth.union(Set.of(1))));
        assertTrue(table.reason().contains("outputs outside the tolerance"), table::reason);
    }

    @ParameterizedTest
    @CsvSource({
        "INT8, 1, true",
        "UINT8, 1, true",
        "INT16, 1, true",
        "INT64, 1, false",
        "INT8, 9, false"
    })
    void profile_oneStepOff_isRightForQuantizedTypesOnly(
            ElementType type, double steps, boolean isRight) throws InterruptedException {
        ProfileTable table = profile(runner(truth).wrong(2, type, steps), LATENCY);

        assertEquals(truth.union(isRight ? Set.of(0, 1, 2) : Set.of(0, 2)), table.chosen());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void profile_partitionFails_isLeftOutAndRecorded(Kind kind) throws InterruptedException {
        ProfileTable table = profile(runner(truth).failing(4, kind), LATENCY);

        assertEquals(truth.union(Set.of(0, 1)), table.chosen());
        assertEquals(
                List.of(truth.union(Set.of(0, 1, 2)), truth.union(Set.of(2))),
                candidates(table, Entry.Failed.class));
        assertTrue(
                table.entries().stream()
                        .allMatch(e -> !(e instanceof Entry.Failed f) || f.kind() == kind));
    }

    @Test
    void profile_operatorFails_onlyItsPieceIsLeftOut() throws InterruptedException {
        SimulatedRunner runner = runner(instant(5, 8)).failing(0, Kind.CRASHED);

        ProfileTable table = profile(runner, LATENCY);

        assertFalse(table.chosen().operators().contains(0));
        assertTrue(table.chosen().operators().size() >= 4, table::reason);
    }

    @Test
    void profile_operatorsKnownToBeWrong_theyAloneAreLeftOut() throws InterruptedException {
        SimulatedRunner runner = runner(instant(5, 8)).wrongAndNamed(2).wrongAndNamed(5);

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(Set.of(0, 1, 3, 4, 6, 7), table.chosen().operators());
        assertEquals(2, candidates(table, Entry.Wrong.class).size());
    }

    @Test
    void profile_everyOperatorKnownToBeWrong_choosesTheCpu() throws InterruptedException {
        ChainTruth chain = instant(1, 2, 2);
        SimulatedRunner runner = runner(chain);
        chain.partitions().forEach(p -> p.forEach(runner::wrongAndNamed));

        assertEquals(Candidate.cpu(1), profile(runner, LATENCY).chosen());
    }

    @Test
    void profile_everythingCrashes_stopsSoonOnTheCpu() throws InterruptedException {
        ChainTruth chain = instant(1, 2, 2, 2, 2, 2, 2, 2, 2);
        SimulatedRunner runner = runner(chain);
        chain.partitions().forEach(p -> p.forEach(o -> runner.failing(o, Kind.CRASHED)));

        ProfileTable table = profile(runner, LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertEquals(Trials.MOST_CRASHES, candidates(table, Entry.Failed.class).size());
        assertTrue(table.reason().contains("4 candidates cannot be used"), table::reason);
    }

    @Test
    void profile_crashWhileTimed_choosesAmongTheRest() throws InterruptedException {
        SimulatedRunner runner = runner(truth).crashingWhenTimed(truth.union(Set.of(0, 1, 2)));

        assertEquals(truth.union(Set.of(0, 2)), profile(runner, LATENCY).chosen());
    }

    @Test
    void profile_cpuFails_choosesTheCpuWithTheReason() throws InterruptedException {
        ProfileTable table = profile(runner(truth).failingOnTheCpu(Kind.REFUSED), LATENCY);

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
        ProfileTable table = profile(runner(truth).failingOnTheCpu(kind), LATENCY);

        assertEquals(Candidate.cpu(1), table.chosen());
        assertTrue(table.caveat().isPresent());
    }
}
