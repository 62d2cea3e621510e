package org.djlplan.study.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

class ParallelPlannerTest {

    @Test
    void plan_chain_needsNoMoreThanSerial() {
        Attempt inPlace = ParallelPlanner.plan(GraphSketch.chain());
        assertEquals("greedy-by-size-over-conflicts+in-place", inPlace.name());
        assertEquals(64, inPlace.plan().totalBytes());
    }

    @Test
    void plan_branches_keepsAllOfThem() {
        Graph graph = BranchyGraphs.branches(3, 3);
        assertEquals(256, MemoryPlanner.plan(graph, InPlace.TRUE).plan().totalBytes());
        Attempt parallel = ParallelPlanner.plan(graph);
        assertEquals(384, parallel.plan().totalBytes());
        assertEquals(List.of(), PlanValidator.violations(parallel.plan(), 64));
    }

    @Test
    void plan_emptyGraph_needsNothing() {
        Attempt planned = ParallelPlanner.plan(new GraphSketch().build());
        assertEquals(0, planned.plan().totalBytes());
    }
}
