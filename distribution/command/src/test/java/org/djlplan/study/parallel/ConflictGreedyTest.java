package org.djlplan.study.parallel;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.OffsetStrategyContract;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class ConflictGreedyTest extends OffsetStrategyContract {

    private static final List<OffsetStrategy> ALL =
            List.of(
                    ConflictGreedy.BY_SIZE,
                    ConflictGreedy.BY_CONFLICTS,
                    ConflictGreedy.TVM_BY_SIZE,
                    ConflictGreedy.TVM_BY_CONFLICTS);

    @Override
    protected List<OffsetStrategy> strategies() {
        return ALL;
    }

    private static List<Long> offsets(OffsetStrategy strategy, PlanningProblem problem) {
        OffsetPlan plan = strategy.plan(problem);
        return problem.records().stream().map(r -> plan.offsetOf(r.tensor())).toList();
    }

    private static long total(OffsetStrategy strategy, PlanningProblem problem) {
        return strategy.plan(problem).totalBytes();
    }

    @Test
    void tvm_fanout_givesItsTotals() {
        assertEquals(7_920_256, total(ConflictGreedy.TVM_BY_SIZE, TvmVectors.FANOUT));
        assertEquals(7_200_256, total(ConflictGreedy.TVM_BY_CONFLICTS, TvmVectors.FANOUT));
    }

    @Test
    void smallestGap_fanout_isNoWorseInEitherOrder() {
        // sid_2, sid_6, PaddedInput_3 (or _2) and a Conv2dOutput are in conflict with each other.
        assertEquals(7_200_256, total(ConflictGreedy.BY_SIZE, TvmVectors.FANOUT));
        assertEquals(7_200_256, total(ConflictGreedy.BY_CONFLICTS, TvmVectors.FANOUT));
    }

    /**
     * TVM has two pools here: a fast one that takes what fits into its 200,704 bytes (tensor_2 and
     * Conv2dOutput_7, which are not in conflict), and a slow one of any size. Our arena is one pool
     * of any size; its total equals the slow pool's, with or without the two tensors. That holds
     * only for the order by size: TVM counts conflicts across pools, so without the two tensors its
     * order by conflicts would differ. TVM aligns offsets to 16 bytes, we align sizes: in TVM,
     * PaddedInput_7 has 314,646 bytes.
     */
    @Test
    void tvm_linearInOnePool_givesItsTotalOfTheSlowPool() {
        assertEquals(1_418_528, total(ConflictGreedy.TVM_BY_SIZE, TvmVectors.LINEAR));
        assertEquals(1_418_528, total(ConflictGreedy.TVM_BY_CONFLICTS, TvmVectors.LINEAR));
        assertEquals(1_418_528, total(ConflictGreedy.TVM_BY_SIZE, TvmVectors.LINEAR_SLOW_POOL));
    }

    @Test
    void smallestGap_linear_needsLessInOnePoolThanTvmInTheSlowOne() {
        // sid_8, PaddedInput_7 and Conv2dOutput_7 are in conflict with each other.
        assertEquals(1_117_728, total(ConflictGreedy.BY_SIZE, TvmVectors.LINEAR));
        assertEquals(1_117_728, total(ConflictGreedy.BY_CONFLICTS, TvmVectors.LINEAR));
    }

    @Test
    void behindLast_gapBeforeIt_staysEmpty() {
        // Tensor 1 ends before tensor 3 begins, and leaves a gap between 0 and 2.
        PlanningProblem problem =
                new PlanningProblem(records(0, 9, 50, 0, 0, 40, 0, 9, 30, 5, 9, 20));
        assertEquals(List.of(0L, 50L, 90L, 50L), offsets(ConflictGreedy.BY_SIZE, problem));
        assertEquals(List.of(0L, 50L, 90L, 120L), offsets(ConflictGreedy.TVM_BY_SIZE, problem));
    }

    @Test
    void byConflicts_manyNeighbours_comeFirst() {
        // Tensor 2 is small but overlaps all others.
        PlanningProblem problem = new PlanningProblem(records(0, 1, 50, 2, 3, 40, 0, 3, 10));
        assertEquals(List.of(10L, 10L, 0L), offsets(ConflictGreedy.BY_CONFLICTS, problem));
        assertEquals(List.of(0L, 0L, 50L), offsets(ConflictGreedy.BY_SIZE, problem));
    }

    @Test
    void admits_tooLargeAProblem_isFalse() {
        List<UsageRecord> many = new ArrayList<>();
        for (int i = 0; i <= ConflictGreedy.LARGEST_PROBLEM; i++) {
            many.add(new UsageRecord(i, i, i, 1));
        }
        PlanningProblem problem = new PlanningProblem(many);
        ALL.forEach(strategy -> assertFalse(strategy.admits(problem)));
    }

    @Property(tries = 300)
    void plan_anyProblem_isNotBelowTheAntichains(@ForAll("problems") PlanningProblem problem) {
        for (OffsetStrategy strategy : ALL) {
            assertTrue(strategy.plan(problem).totalBytes() >= AntichainBound.bytes(problem));
        }
    }

    @Property(tries = 300)
    void bySizeOverConflicts_serialProblem_isGreedyBySize(
            @ForAll("serial") PlanningProblem problem) {
        assertEquals(
                Greedy.BY_SIZE.plan(problem).unitOffsets(),
                ConflictGreedy.BY_SIZE.plan(problem).unitOffsets());
    }

    @Override
    @Provide
    protected Arbitrary<PlanningProblem> problems() {
        return Problems.withConflicts();
    }

    @Provide
    Arbitrary<PlanningProblem> serial() {
        return Problems.aliased();
    }
}
