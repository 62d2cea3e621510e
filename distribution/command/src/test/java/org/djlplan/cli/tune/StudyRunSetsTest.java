package org.djlplan.cli.tune;

import static org.djlplan.cli.tune.SampleStudies.PARTITIONS;
import static org.djlplan.cli.tune.SampleStudies.closed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.partition.Units;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.Test;

class StudyRunSetsTest {

    private static List<ImmutableSet<Integer>> sets(List<SortedSet<Integer>> partitions, int size) {
        return StudyRun.MeasuredSets.of(
                partitions, Units.of(SampleStudies.chain(size), partitions));
    }

    /** Returns partitions with another operator between them; later partitions are larger. */
    private static List<SortedSet<Integer>> growing(int count) {
        return IntStream.range(0, count)
                .<SortedSet<Integer>>mapToObj(i -> closed(i * (count + 2), i * (count + 2) + i))
                .toList();
    }

    @Test
    void of_fewPartitions_areAllUnions() {
        List<ImmutableSet<Integer>> sets = sets(PARTITIONS, 12);
        assertEquals(8, new HashSet<>(sets).size());
        assertEquals(Set.of(), sets.get(0));
        assertEquals(Set.of(0, 1, 2), sets.get(7));
        assertEquals(1024, sets(growing(10), 200).size());
    }

    @Test
    void of_elevenPartitions_areSinglesAllButOneAndTheRule() {
        Set<Set<Integer>> sets = new HashSet<>(sets(growing(11), 200));
        // None, all, 11 sets of one partition, and 11 that leave one out. The rule adds sets of 2
        // to 9 partitions; its sets of 1, 10 and 11 are among the others.
        assertEquals(2 + 11 + 11 + 8, sets.size());
        for (int i = 0; i < 11; i++) {
            Set<Integer> others = new HashSet<>(ContiguousSet.closed(0, 10));
            others.remove(i);
            assertTrue(sets.contains(Set.of(i)) && sets.contains(others), "partition " + i);
        }
        assertTrue(sets.contains(Set.of(7, 8, 9, 10)), "the largest four");
    }

    @Test
    void of_noPartition_isNothing() {
        assertEquals(List.of(Set.of()), sets(List.of(), 3));
    }

    @Test
    void firstN_partitions_areByOperators() {
        Units units = Units.of(SampleStudies.graph(), PARTITIONS);
        assertEquals(
                List.of(Set.of(0), Set.of(0, 2), Set.of(0, 1, 2)),
                StudyRun.MeasuredSets.firstN(PARTITIONS, units));
    }
}
