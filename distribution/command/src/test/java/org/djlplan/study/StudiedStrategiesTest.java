package org.djlplan.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.portfolio.Strategies;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.testing.Vectors;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.study.shared.EndToEnd;
import org.djlplan.study.shared.SharedStrategies;
import org.junit.jupiter.api.Test;

class StudiedStrategiesTest {

    @Test
    void admits_conflictsBesideIntervals_onlyPlansForParallelBranches() {
        PlanningProblem problem =
                new PlanningProblem(Vectors.PISARCHYK)
                        .withConflicts(new Conflicts.Builder().add(0, 7).build());
        assertTrue(SharedStrategies.all().stream().noneMatch(s -> s.admits(problem)));
        assertTrue(ParallelPlanner.strategies().stream().allMatch(s -> s.admits(problem)));
    }

    @Test
    void names_containStrategiesOfServices() {
        assertTrue(Strategies.names().contains("shared-optimal-end-to-end"));
        assertFalse(Strategies.names().contains("shared-optimal"));
        for (OffsetStrategy strategy : Strategies.all()) {
            assertEquals(List.of(strategy), Strategies.named(strategy.name()));
        }
    }

    @Test
    void named_forComparisonOnly_isFoundAsAService() {
        OffsetStrategy naive = Strategies.named("shared-naive-end-to-end").get(0);
        assertEquals(EndToEnd.OfNaive.class, naive.getClass());
        assertFalse(Strategies.offsets().contains(naive));
        assertEquals(
                SharedStrategies.all().stream().map(s -> s.name() + "-end-to-end").toList(),
                Strategies.all().stream()
                        .filter(EndToEnd.class::isInstance)
                        .map(OffsetStrategy::name)
                        .toList());
    }
}
