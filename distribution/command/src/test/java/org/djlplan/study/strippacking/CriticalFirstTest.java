package org.djlplan.study.strippacking;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.SyntheticProfiles;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class CriticalFirstTest {

    private final OffsetStrategy strategy = CriticalFirst.STRATEGY;

    private long total(List<UsageRecord> records) {
        return strategy.plan(new PlanningProblem(records)).totalBytes();
    }

    /** Returns how far a plan exceeds the lower bound, as a share of the bound. */
    private double excess(PlanningProblem problem) {
        OffsetPlan plan = strategy.plan(problem);
        assertEquals(List.of(), PlanValidator.violations(plan, 1));
        double boundBytes = LowerBounds.offsetBytes(problem.units());
        return (plan.totalBytes() - boundBytes) / boundBytes;
    }

    @Test
    void plan_publishedVectors_reachTheBound() {
        assertEquals(124, total(Vectors.PISARCHYK));
        assertEquals(96, total(Vectors.TFLITE_CHAIN));
        assertEquals(96, total(Vectors.TFLITE_COMPLEX));
        assertEquals(5, total(Vectors.OPENVINO_INEFFICIENCY));
        assertEquals(5, total(Vectors.OPENVINO_NO_OVERLAPPING));
        assertEquals(7_200_256, total(Vectors.TVM_FANOUT));
    }

    @Test
    void plan_hugeSizesOneAfterAnother_isValid() {
        assertEquals(
                Long.MAX_VALUE,
                total(
                        List.of(
                                new UsageRecord(0, 0, 1, Long.MAX_VALUE),
                                new UsageRecord(1, 2, 3, Long.MAX_VALUE - 1))));
    }

    @Test
    void plan_serving_isBetterThanGreedyBySize() {
        PlanningProblem problem = SyntheticProfiles.serving(10_000, 3);
        double boundBytes = LowerBounds.offsetBytes(problem.units());
        double greedy = Greedy.BY_SIZE.plan(problem).totalBytes() / boundBytes - 1;
        assertTrue(excess(problem) < 0.5 * greedy, () -> "greedy by size " + greedy);
    }

    @Test
    void plan_hundredThousand_endsCloseToTheBound() {
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () -> {
                    double training = excess(SyntheticProfiles.training(100_000, 4));
                    assertTrue(training <= 0.001, () -> "training " + training);
                    double serving = excess(SyntheticProfiles.serving(100_000, 5));
                    assertTrue(serving <= 0.005, () -> "serving " + serving);
                });
    }

    @Property(tries = 100)
    void plan_sizesInUnitsOfTheAlignment_isAligned(@ForAll("problems") PlanningProblem problem) {
        List<UsageRecord> aligned =
                problem.records().stream()
                        .map(r -> new UsageRecord(r.tensor(), r.first(), r.last(), 64 * r.bytes()))
                        .toList();
        OffsetPlan plan = strategy.plan(new PlanningProblem(aligned, problem.aliasClasses()));
        assertEquals(List.of(), PlanValidator.violations(plan, 64));
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
