package org.djlplan.memplan.internal.budget;

import static org.djlplan.memplan.internal.budget.StreamingProblems.PAGE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.budget.KernelSelection.Selection;
import org.junit.jupiter.api.Test;

class KernelPlannerTest {

    private static final int STEPS = 10;
    private static final int PAGES = 8;
    private static final long ROOM = 40 * PAGE;
    private static final Set<Integer> ALL = steps();

    /** Ten convolutions of 8 pages of weights, a page between two of them. */
    private static final StreamedGraph GRAPH = graph();

    private static Set<Integer> steps() {
        Set<Integer> steps = new HashSet<>();
        for (int step = 0; step < STEPS; step++) {
            steps.add(step);
        }
        return steps;
    }

    private static StreamedGraph graph() {
        List<Tensor> tensors = new ArrayList<>();
        List<Operator> operators = new ArrayList<>();
        tensors.add(tensor(0, Storage.INTERMEDIATE, PAGE));
        for (int step = 0; step < STEPS; step++) {
            tensors.add(tensor(2 * step + 1, Storage.CONSTANT, PAGES * PAGE));
            tensors.add(tensor(2 * step + 2, Storage.INTERMEDIATE, PAGE));
            operators.add(
                    new Operator(
                            step,
                            "CONV_2D",
                            List.of(2 * step, 2 * step + 1),
                            List.of(2 * step + 2),
                            List.of()));
        }
        Graph graph = new Graph("chain", operators, tensors, List.of(0), List.of(2 * STEPS));
        return new StreamedGraph(graph, List.of(), List.of());
    }

    private static Tensor tensor(int id, Storage storage, long bytes) {
        Optional<FileRegion> region =
                storage == Storage.CONSTANT
                        ? Optional.of(new FileRegion(100L * id * PAGE, bytes))
                        : Optional.empty();
        return new Tensor(
                id,
                "t" + id,
                ElementType.FLOAT32,
                List.of((int) bytes / 4),
                bytes,
                storage,
                region);
    }

    private static StepCosts costs(double pagesPerMilli) {
        long[] nanos = new long[STEPS];
        Arrays.fill(nanos, 1_000_000);
        return new StepCosts(nanos, pagesPerMilli * PAGE / 1e6, 0);
    }

    private static Optional<Selection> best(StepCosts costs, Set<Integer> delegable, long bytes)
            throws BudgetTooSmallException {
        StreamingPlanner planner = new StreamingPlanner();
        StreamingPlan plan = planner.plan(GRAPH.problem(costs), bytes, GRAPH::nameOf);
        return new KernelPlanner(GRAPH, costs, delegable, planner).best(bytes, bytes, plan);
    }

    @Test
    void best_fastLoads_delegatesAsMuchAsLeavesRoomForTheRest() throws Exception {
        Selection selected = best(costs(1000), ALL, ROOM).orElseThrow();
        assertTrue(selected.steps().size() >= 2, selected.toString());
        StreamingProblem rest = GRAPH.problem(costs(1000), selected.steps());
        assertEquals(STEPS - selected.steps().size(), rest.weights().size());
        long leftBytes = ROOM - selected.bytes();
        assertTrue(StreamingPlanner.leastBudgetBytes(rest) <= leftBytes, selected.toString());
    }

    @Test
    void best_moreRoom_neverDelegatesLess() throws Exception {
        int before = 0;
        for (long pages = 20; pages < 130; pages += 10) {
            int now =
                    best(costs(1000), ALL, pages * PAGE).map(each -> each.steps().size()).orElse(0);
            assertTrue(now >= before, pages + " pages: " + now + " after " + before);
            before = now;
        }
        assertEquals(STEPS, before);
    }

    @Test
    void best_nothingThatADelegateTakes_isEmpty() throws Exception {
        assertEquals(Optional.empty(), best(costs(1000), Set.of(), ROOM));
    }

    @Test
    void best_loadsThatTakeAllTheTime_isNotSlowerThanCpuKernels() throws Exception {
        StepCosts slow = costs(1);
        StreamingPlan plan = new StreamingPlanner().plan(GRAPH.problem(slow), ROOM, GRAPH::nameOf);
        Optional<Selection> selected = best(slow, ALL, ROOM);
        // A delegated step keeps its weights as a pinned piece does, so that costs no loads.
        long pinned = plan.loads().stream().filter(StreamingPlan.Load::pinned).count();
        assertTrue(selected.isEmpty() || selected.get().steps().size() + 1 >= pinned);
    }

    @Test
    void problem_withDelegatedSteps_excludesTheirWeightsAndTensors() {
        StreamingProblem rest = GRAPH.problem(costs(1), Set.of(3, 4));
        assertEquals(STEPS - 2, rest.weights().size());
        List<Integer> placed =
                rest.activations().records().stream().map(record -> record.tensor()).toList();
        assertEquals(List.of(2, 4, 12, 14, 16, 18), placed);
    }
}
