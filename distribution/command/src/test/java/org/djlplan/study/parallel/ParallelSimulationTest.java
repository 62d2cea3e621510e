package org.djlplan.study.parallel;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.statistics.Statistics;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

/**
 * Runs graphs on a simulated machine that executes branches at once, in memory laid out by a plan.
 */
class ParallelSimulationTest {

    private static final int ORDERS = 200;

    private static boolean runsIntactInAllOrders(Graph graph, OffsetPlan plan) {
        Random random = new Random(5);
        return IntStream.range(0, ORDERS)
                .allMatch(i -> ParallelMachine.runsIntact(graph, plan, random));
    }

    private static OffsetPlan bySize(PlanningProblem problem) {
        return Greedy.BY_SIZE.plan(problem);
    }

    private static OffsetPlan overConflicts(PlanningProblem problem) {
        return ParallelPlanner.strategies().get(0).plan(problem);
    }

    @Test
    void serialPlan_branchesAtOnce_isCorrupted() {
        Graph graph = BranchyGraphs.branches(3, 3);
        PlanningProblem serial = new PlanningProblem(UsageRecords.of(graph));
        assertFalse(runsIntactInAllOrders(graph, bySize(serial)));
    }

    @Test
    void serialAliases_overwrittenInputReadByAnotherBranch_areCorrupted() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(16);
        int x = sketch.tensor(16);
        int read = sketch.tensor(16);
        int overwrites = sketch.tensor(16);
        int output = sketch.tensor(16);
        Graph graph =
                sketch.operator("CONV_2D", x, input)
                        .operator("CONV_2D", read, x)
                        .operator("RELU", overwrites, x)
                        .operator("CONV_2D", output, read, overwrites)
                        .output(output)
                        .build();
        ParallelUse use = ParallelUse.of(graph);
        PlanningProblem wrong =
                new PlanningProblem(UsageRecords.of(graph), AliasAnalysis.aliasClasses(graph))
                        .withConflicts(use.conflicts());
        assertFalse(runsIntactInAllOrders(graph, overConflicts(wrong)));
        assertTrue(runsIntactInAllOrders(graph, overConflicts(use.aliasedProblem())));
    }

    @Property(tries = 150)
    void parallelPlan_anyGraph_isIntactInAnyOrder(@ForAll Random random) {
        Graph graph = BranchyGraphs.random(random, 14);
        ParallelUse use = ParallelUse.of(graph);
        OffsetPlan serial = bySize(new PlanningProblem(UsageRecords.of(graph)));
        Statistics.label("serial plan intact")
                .collect(ParallelMachine.runsIntact(graph, serial, random));
        Statistics.label("shared").collect(!use.aliasClasses().isEmpty());
        for (PlanningProblem problem : List.of(use.problem(), use.aliasedProblem())) {
            for (OffsetStrategy strategy : ParallelPlanner.strategies()) {
                OffsetPlan plan = strategy.plan(problem);
                for (int order = 0; order < 5; order++) {
                    assertTrue(ParallelMachine.runsIntact(graph, plan, random), strategy::name);
                }
            }
        }
    }
}
