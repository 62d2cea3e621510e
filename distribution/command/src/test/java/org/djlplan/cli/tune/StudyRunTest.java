package org.djlplan.cli.tune;

import static org.djlplan.cli.tune.SampleStudies.PARTITIONS;
import static org.djlplan.cli.tune.SampleStudies.union;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.cli.tune.Study.PartitionCost;
import org.djlplan.cli.tune.Study.SetTime;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class StudyRunTest {

    private static final long MILLI = 1_000_000;

    /**
     * Times of the partitions in the CPU kernels and, below, in the delegate. Other operators take
     * 1 ms each.
     */
    private static final long[] CPU = {8 * MILLI, 8 * MILLI, 9 * MILLI};

    private static final long[] DELEGATE = {16 * MILLI, 2 * MILLI, 3 * MILLI};

    /**
     * Simulates candidates with given times: set 1,2 crashes, and set 1 computes a wrong output.
     */
    private static final class Simulated implements CandidateRunner {

        private final Set<Candidate> prepared = new HashSet<>();

        @Override
        public List<Set<Integer>> partitions() {
            return PARTITIONS.stream().<Set<Integer>>map(ImmutableSet::copyOf).toList();
        }

        @Override
        public Trial prepare(Candidate candidate) throws CandidateException {
            if (candidate.equals(union(2, 1, 2))) {
                throw new CandidateException(Kind.CRASHED, "SIGSEGV");
            }
            prepared.add(candidate);
            double error = candidate.equals(union(2, 1)) ? 0.5 : 1e-6;
            return new Trial(
                    delegated(candidate).size(),
                    List.of(new OutputError(ElementType.FLOAT32, error)),
                    1 << 20,
                    3);
        }

        private static List<Integer> delegated(Candidate candidate) {
            List<Integer> delegated = new ArrayList<>();
            for (int i = 0; i < PARTITIONS.size(); i++) {
                if (candidate.operators().containsAll(PARTITIONS.get(i))) {
                    delegated.add(i);
                }
            }
            return delegated;
        }

        @Override
        public long[] time(Candidate candidate, int inferences) {
            requirePrepared(candidate);
            long[] nanos = new long[inferences];
            Arrays.fill(nanos, profile(candidate, 1).stream().mapToLong(NodeTime::nanos).sum());
            return nanos;
        }

        @Override
        public List<NodeTime> profile(Candidate candidate, int inferences) {
            requirePrepared(candidate);
            List<NodeTime> nodes = new ArrayList<>();
            for (int i = 0; i < PARTITIONS.size(); i++) {
                boolean delegated = delegated(candidate).contains(i);
                nodes.add(
                        new NodeTime(
                                PARTITIONS.get(i), delegated, delegated ? DELEGATE[i] : CPU[i]));
            }
            for (int other : new int[] {4, 7, 11}) {
                nodes.add(new NodeTime(ImmutableSortedSet.of(other), false, MILLI));
            }
            return nodes;
        }

        private void requirePrepared(Candidate candidate) {
            assertTrue(prepared.contains(candidate), "not prepared: " + candidate);
        }

        @Override
        public void release(Candidate candidate) {
            prepared.remove(candidate);
        }

        @Override
        public void close() {}
    }

    private static Study study(CandidateRunner runner, Duration budget) throws Exception {
        return StudyRun.study(
                SampleStudies.graph(),
                runner,
                new StudyRun.Settings(2, budget, 3, Duration.ofMillis(200), Tolerance.AUTO),
                Optional.empty());
    }

    @Test
    void study_timeForAll_measuresEverySet() throws Exception {
        Study study = study(new Simulated(), Duration.ofMinutes(1));
        assertEquals(8, study.wanted());
        assertEquals(8, study.sets().size());
        List<SetTime> fastest = study.fastest();
        assertEquals(6, fastest.size());
        assertEquals(Set.of(2, 3), fastest.get(0).partitions());
        assertEquals(Optional.of(16 * MILLI), fastest.get(0).medianNanos());
        assertEquals(Optional.of(28 * MILLI), study.set(Set.of()).orElseThrow().medianNanos());
        assertEquals(Optional.of(fastest.get(0)), study.usualChoice());
        assertEquals(List.of(Set.of(1), Set.of(1, 3), Set.of(1, 2, 3)), study.rule());
        assertTrue(study.inferences() > 8 * 3, "inferences: " + study.inferences());
    }

    @Test
    void study_badSets_areShownAndNotTimed() throws Exception {
        Study study = study(new Simulated(), Duration.ofMinutes(1));
        assertEquals(
                "crashed: SIGSEGV",
                ProfileText.failure(study.set(Set.of(1, 2)).orElseThrow().entry()));
        assertEquals(
                "outputs differ: not used",
                ProfileText.failure(study.set(Set.of(1)).orElseThrow().entry()));
    }

    @Test
    void study_partitions_haveBothTimes() throws Exception {
        List<PartitionCost> costs = study(new Simulated(), Duration.ofMinutes(1)).costs();
        assertEquals(3, costs.size());
        for (int i = 0; i < 3; i++) {
            assertEquals(CPU[i], costs.get(i).cpuNanos());
            assertEquals(DELEGATE[i], costs.get(i).delegateNanos());
        }
    }

    @Test
    void study_noTime_isShort() throws Exception {
        Study study = study(new Simulated(), Duration.ZERO);
        assertEquals(List.of(), study.sets());
        assertEquals(8, study.wanted());
        assertTrue(StudyText.of(study).contains("0 of 8 sets measured"));
    }

    @Test
    void study_interrupted_ends() {
        Thread.currentThread().interrupt();
        assertThrows(
                InterruptedException.class, () -> study(new Simulated(), Duration.ofMinutes(1)));
    }
}
