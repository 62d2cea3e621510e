package org.djlplan.study.strippacking;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class StripPackingTest {

    /**
     * Returns the bound in bytes of the path cover (LeapMind 2021, "Buffer allocation as path
     * cover"): twice the product of the largest overlap and the largest size. Half of it is enough
     * if groups are stacked whole. The tensors of a group do not overlap, so they raise the skyline
     * by the largest size at most; and the number of groups equals the number of overlapping
     * tensors.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    private static long pathCoverBoundBytes(Collection<UsageRecord> records) {
        long overlap = LowerBounds.positionalMaxima(records).size();
        long largestBytes = records.stream().mapToLong(UsageRecord::bytes).max().orElse(0);
        return Math.multiplyExact(2 * overlap, largestBytes);
    }

    private static List<Long> offsets(OffsetStrategy strategy, List<UsageRecord> records) {
        OffsetPlan plan = strategy.plan(new PlanningProblem(records));
        return records.stream().map(r -> plan.offsetOf(r.tensor())).toList();
    }

    private static long total(OffsetStrategy strategy, List<UsageRecord> records) {
        return strategy.plan(new PlanningProblem(records)).totalBytes();
    }

    @Test
    void bestFit_paperExample_givesOffsetsWorkedOutByHand() {
        assertEquals(
                List.of(0L, 36L, 0L, 114L, 130L, 50L, 0L, 10L),
                offsets(StripPacking.BEST_FIT, Vectors.PISARCHYK));
        assertEquals(138, total(StripPacking.BEST_FIT, Vectors.PISARCHYK));
    }

    @Test
    void longestFirst_paperExample_givesOffsetsWorkedOutByHand() {
        assertEquals(
                List.of(64L, 36L, 0L, 100L, 116L, 36L, 100L, 110L),
                offsets(StripPacking.LONGEST_FIRST, Vectors.PISARCHYK));
        assertEquals(150, total(StripPacking.LONGEST_FIRST, Vectors.PISARCHYK));
    }

    @Test
    void pathCover_paperExample_reachesTheBoundWithLargestGroupsFirst() {
        // Groups {0, 2, 6}, {1, 5}, {3, 7}, {4} give 140 in this order.
        assertEquals(
                List.of(28L, 0L, 80L, 64L, 116L, 0L, 104L, 64L),
                offsets(StripPacking.PATH_COVER, Vectors.PISARCHYK));
        assertEquals(124, total(StripPacking.PATH_COVER, Vectors.PISARCHYK));
    }

    @Test
    void longestFirst_chain_buildsAStaircaseThatPathCoverAvoids() {
        List<UsageRecord> chain = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            chain.add(new UsageRecord(i, i, i + 1, 100 - i));
        }
        assertEquals(UsageRecords.naiveBytes(chain), total(StripPacking.LONGEST_FIRST, chain));
        assertEquals(199, total(StripPacking.PATH_COVER, chain));
        assertEquals(199, LowerBounds.offsetBytes(chain));
    }

    @Test
    void bestFit_lineThatNothingFitsInto_isLiftedToTheLowerNeighbour() {
        // Tensors 0 and 1 leave operator 3 alone at offset 0. Lifted to tensor 1's end, it becomes
        // one line with it, on which tensor 2 fits in one case and not in the other.
        assertEquals(
                List.of(0L, 0L, 5L),
                offsets(StripPacking.BEST_FIT, records(0, 2, 9, 4, 9, 5, 3, 8, 1)));
        assertEquals(
                List.of(0L, 0L, 9L),
                offsets(StripPacking.BEST_FIT, records(0, 2, 9, 4, 9, 5, 2, 4, 1)));
    }

    @Property(tries = 300)
    void pathCover_anyProblem_keepsItsBoundAndEvenHalfOfIt(
            @ForAll("problems") PlanningProblem problem) {
        long bound = pathCoverBoundBytes(problem.units());
        assertTrue(2 * StripPacking.PATH_COVER.plan(problem).totalBytes() <= bound);
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
