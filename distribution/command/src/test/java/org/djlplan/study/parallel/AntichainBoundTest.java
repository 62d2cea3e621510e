package org.djlplan.study.parallel;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class AntichainBoundTest {

    @Test
    void bytes_serialProblem_isTheMaximumBreadth() {
        assertEquals(124, AntichainBound.bytes(new PlanningProblem(Vectors.PISARCHYK)));
        assertEquals(0, AntichainBound.bytes(new PlanningProblem(List.of())));
    }

    @Test
    void bytes_branches_countsTheHeaviestOfEach() {
        // Three branches of three operators: at an operator, two tensors of its branch are alive.
        PlanningProblem problem = ParallelUse.of(BranchyGraphs.branches(3, 3)).problem();
        assertEquals(4 * 64, LowerBounds.offsetBytes(problem.units()));
        assertEquals(6 * 64, AntichainBound.bytes(problem));
    }

    @Test
    void bytes_notTransitive_staysBelowTheHeaviestClique() {
        // 0 may share a place with 1, and 1 with 2, but 0 not with 2: at most two tensors are in
        // conflict with each other.
        PlanningProblem problem =
                new PlanningProblem(records(0, 0, 5, 1, 1, 1, 2, 2, 7))
                        .withConflicts(new Conflicts.Builder().add(0, 2).build());
        assertEquals(12, heaviestClique(problem));
        assertEquals(7, AntichainBound.bytes(problem));
    }

    @Test
    void bytes_tooLargeAProblem_isTheMaximumBreadth() {
        PlanningProblem problem =
                ParallelUse.of(BranchyGraphs.branches(2, AntichainBound.LARGEST_PROBLEM)).problem();
        assertEquals(LowerBounds.offsetBytes(problem.units()), AntichainBound.bytes(problem));
    }

    @Test
    void bytes_aThousandUnits_isNotBelowTheBreadth() {
        PlanningProblem problem =
                ParallelUse.of(BranchyGraphs.random(new Random(3), 1000)).aliasedProblem();
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () ->
                        assertTrue(
                                AntichainBound.bytes(problem)
                                        >= LowerBounds.offsetBytes(problem.units())));
    }

    @Property(tries = 300)
    void bytes_anyGraph_isTheHeaviestClique(@ForAll Random random) {
        ParallelUse use = ParallelUse.of(BranchyGraphs.random(random, 11));
        assertEquals(heaviestClique(use.problem()), AntichainBound.bytes(use.problem()));
        assertEquals(
                heaviestClique(use.aliasedProblem()), AntichainBound.bytes(use.aliasedProblem()));
    }

    @Property(tries = 300)
    void bytes_anyConflicts_isNotAboveTheHeaviestClique(
            @ForAll("problems") PlanningProblem problem) {
        assertTrue(AntichainBound.bytes(problem) <= heaviestClique(problem));
        assertTrue(AntichainBound.bytes(problem) >= LowerBounds.offsetBytes(problem.units()));
    }

    /** Tries all sets of units in which every two are in conflict. */
    private static long heaviestClique(PlanningProblem problem) {
        return heaviest(problem, problem.units(), 0);
    }

    private static long heaviest(PlanningProblem problem, List<UsageRecord> open, long bytes) {
        long best = bytes;
        for (int i = 0; i < open.size(); i++) {
            UsageRecord next = open.get(i);
            List<UsageRecord> left = new ArrayList<>();
            for (UsageRecord other : open.subList(i + 1, open.size())) {
                if (problem.conflict(next, other)) {
                    left.add(other);
                }
            }
            best = Math.max(best, heaviest(problem, left, bytes + next.bytes()));
        }
        return best;
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.withConflicts();
    }
}
