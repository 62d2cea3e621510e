package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.choice.Dataflow;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replays the published case in which TensorFlow Lite's own rule fails; see {@link YoloTruth}. */
class YoloReplayTest {

    private static final YoloTruth TRUTH = new YoloTruth();
    private static final Set<Integer> EVERYTHING = ContiguousSet.closedOpen(0, 7);

    private static double millis(Candidate candidate) {
        return TRUTH.nanos(candidate) / 1e6;
    }

    /**
     * Returns the time with TensorFlow Lite's own rule, which delegates the {@code count}
     * partitions with the most nodes.
     */
    private static double firstN(int count) {
        SortedSet<Integer> operators =
                TRUTH.partitions().stream()
                        .sorted(Comparator.comparing(Set<Integer>::size).reversed())
                        .limit(count)
                        .flatMap(Set::stream)
                        .collect(Collectors.toCollection(TreeSet::new));
        return millis(new Candidate(operators, 1));
    }

    @Test
    void truth_tables_agreeWithPublishedOnes() {
        for (int p = 0; p < YoloTruth.ONE_MILLIS.size(); p++) {
            assertEquals(YoloTruth.ONE_MILLIS.get(p), millis(TRUTH.union(Set.of(p))), 0.01);
        }
        assertEquals(YoloTruth.ALL_MILLIS, millis(TRUTH.union(EVERYTHING)), 0.01);
        assertEquals(YoloTruth.BEST_MILLIS, millis(TRUTH.union(Set.of(0, 1, 2, 3))), 0.01);
        double best =
                Sets.powerSet(EVERYTHING).stream()
                        .mapToDouble(union -> millis(TRUTH.union(union)))
                        .min()
                        .orElseThrow();
        assertEquals(YoloTruth.BEST_MILLIS, best, 0.01);
    }

    @Test
    void graph_hasThePublishedPartitions() {
        BitSet everything = new BitSet();
        TRUTH.partitions().forEach(partition -> partition.forEach(everything::set));

        assertEquals(152, TRUTH.graph().operators().size());
        assertEquals(7, Dataflow.of(TRUTH.graph()).kernels(everything).size());
    }

    @Test
    void firstN_isSlowerThanTheCpuUntilFive_andBestWithAll() {
        double cpu = millis(Candidate.cpu(1));
        List<Double> byCount = IntStream.rangeClosed(1, 7).mapToObj(n -> firstN(n)).toList();

        assertTrue(byCount.subList(0, 5).stream().allMatch(ms -> ms > cpu), byCount::toString);
        assertEquals(YoloTruth.ALL_MILLIS, byCount.get(6), 0.01);
        assertTrue(byCount.subList(0, 6).stream().allMatch(ms -> ms > byCount.get(6)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void choice_withinTheDefaultBudget_isThePublishedBest(long seed) throws InterruptedException {
        SimulatedRunner runner = new SimulatedRunner(TRUTH, 0.02, seed);

        ProfileTable table =
                Profiler.profile(
                        new Request(
                                TRUTH.graph(),
                                new Goal(Objective.LATENCY, OptionalLong.empty()),
                                List.of(1),
                                Optional.of(Duration.ofSeconds(10)),
                                Tolerance.AUTO),
                        runner,
                        Optional.empty(),
                        early -> {},
                        runner::nowNanos);

        assertTrue(
                millis(table.chosen()) <= YoloTruth.BEST_MILLIS + 0.01,
                millis(table.chosen()) + " ms: " + table.reason());
        // About a hundredth of the inferences that 127 sets with 100 runs each take.
        assertTrue(table.inferences() <= 140, table.inferences() + " inferences");
    }
}
