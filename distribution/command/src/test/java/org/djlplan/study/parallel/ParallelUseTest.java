package org.djlplan.study.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;

class ParallelUseTest {

    private final GraphSketch sketch = new GraphSketch();
    private final int input = sketch.input(16);
    private final int a = sketch.tensor(16);
    private final int b = sketch.tensor(16);
    private final int c = sketch.tensor(16);
    private final int d = sketch.tensor(16);
    private final int output = sketch.tensor(16);

    private List<List<Integer>> pairs() {
        Conflicts conflicts = ParallelUse.of(sketch.output(output).build()).conflicts();
        return Arrays.stream(conflicts.tensors())
                .boxed()
                .flatMap(
                        tensor ->
                                conflicts
                                        .of(tensor)
                                        .filter(other -> other > tensor)
                                        .mapToObj(other -> List.of(tensor, other)))
                .toList();
    }

    private List<?> classes() {
        return ParallelUse.of(sketch.output(output).build()).aliasClasses();
    }

    @Test
    void conflicts_chain_hasNone() {
        sketch.operator("CONV_2D", a, input)
                .operator("CONV_2D", b, a)
                .operator("CONV_2D", c, b)
                .operator("CONV_2D", output, c);
        assertEquals(List.of(), pairs());
        assertTrue(ParallelUse.of(sketch.build()).problem().serial());
    }

    @Test
    void conflicts_twoBranches_meetAcross() {
        sketch.operator("CONV_2D", a, input)
                .operator("CONV_2D", b, a)
                .operator("CONV_2D", c, input)
                .operator("CONV_2D", d, c)
                .operator("CONV_2D", output, b, d);
        // b lives until the end in the serial order as well.
        assertEquals(List.of(List.of(a, c), List.of(a, d)), pairs());
    }

    @Test
    void conflicts_readerInAnotherBranch_keepsTensorAlive() {
        sketch.operator("CONV_2D", a, input)
                .operator("CONV_2D", b, a)
                .operator("CONV_2D", c, a)
                .operator("CONV_2D", d, c)
                .operator("CONV_2D", output, d, b);
        // d is only known to be written after c, so b's writer may still read a.
        assertEquals(List.of(List.of(a, d)), pairs());
    }

    @Test
    void conflicts_temporaries_meetThoseOfOtherBranches() {
        int scratch = sketch.tensor(16);
        int other = sketch.tensor(16);
        sketch.operator("CONV_2D", List.of(input), List.of(a), List.of(scratch))
                .operator("CONV_2D", List.of(input), List.of(b), List.of(other))
                .operator("CONV_2D", output, a, b);
        assertEquals(List.of(List.of(b, scratch), List.of(scratch, other)), pairs());
    }

    @Test
    void aliasClasses_otherReaderIsNoAncestor_doesNotShare() {
        sketch.operator("CONV_2D", a, input)
                .operator("CONV_2D", b, a)
                .operator("RELU", c, a)
                .operator("CONV_2D", output, b, c);
        assertEquals(List.of(), classes());
        assertEquals(List.of(List.of(a, c)), AliasAnalysis.aliasClasses(sketch.build()));
    }

    @Test
    void aliasClasses_otherReaderIsAncestor_shares() {
        sketch.operator("CONV_2D", a, input)
                .operator("MEAN", b, a)
                .operator("SUB", c, a, b)
                .operator("CONV_2D", output, c);
        assertEquals(List.of(List.of(a, c)), classes());
    }

    @Test
    void aliasClasses_viewReadByAnotherBranch_isNotOverwritten() {
        int flat = sketch.tensor(4, 4);
        sketch.operator("CONV_2D", a, input)
                .operator("RESHAPE", flat, a)
                .operator("CONV_2D", b, flat)
                .operator("RELU", c, a)
                .operator("CONV_2D", output, b, c);
        assertEquals(List.of(List.of(a, flat)), classes());
    }

    @Test
    void conflicts_tooLargeAGraph_isAnError() {
        for (int i = 0; i <= ParallelUse.MOST_OPERATORS; i++) {
            sketch.operator("CONV_2D", output, input);
        }
        Graph graph = sketch.build();
        assertThrows(IllegalArgumentException.class, () -> ParallelUse.of(graph));
    }

    @Test
    void conflicts_fourThousandTensorsInBranches_areAcrossBranches() {
        Graph graph = BranchyGraphs.branches(40, 100);
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () -> {
                    Conflicts conflicts = ParallelUse.of(graph).conflicts();
                    assertTrue(conflicts.contains(1, 4000));
                    assertFalse(conflicts.contains(1, 3));
                });
    }

    /** Goes through all states of all executions. */
    @Property(tries = 200)
    void conflict_anyGraph_iffAliveAtOnceInSomeExecution(@ForAll Random random) {
        Graph graph = BranchyGraphs.random(random, 7);
        PlanningProblem problem = ParallelUse.of(graph).problem();
        Set<Set<Integer>> together = new HashSet<>();
        for (Set<Integer> alive : aliveSets(graph)) {
            for (int tensor : alive) {
                for (int other : alive) {
                    together.add(Set.of(Math.min(tensor, other), Math.max(tensor, other) + 1000));
                }
            }
        }
        for (UsageRecord x : problem.units()) {
            for (UsageRecord y : problem.units()) {
                if (x.tensor() < y.tensor()) {
                    assertEquals(
                            together.contains(Set.of(x.tensor(), y.tensor() + 1000)),
                            problem.conflict(x, y),
                            () -> x + " and " + y + " in " + graph.operators());
                }
            }
        }
    }

    /**
     * Returns which planned tensors are alive in each state: at least one user has begun, and not
     * all have ended.
     */
    private static Set<Set<Integer>> aliveSets(Graph graph) {
        int count = graph.operators().size();
        List<List<Integer>> users = UsageRecords.usersOf(graph);
        Set<Set<Integer>> found = new HashSet<>();
        Set<BitSet> seen = new HashSet<>();
        ArrayDeque<BitSet> states = new ArrayDeque<>(List.of(new BitSet()));
        while (!states.isEmpty()) {
            // Bit i: operator i began; bit count + i: it ended.
            BitSet state = states.remove();
            Set<Integer> alive = new HashSet<>();
            for (UsageRecord record : UsageRecords.of(graph)) {
                List<Integer> own = users.get(record.tensor());
                if (own.stream().anyMatch(state::get)
                        && !own.stream().allMatch(user -> state.get(count + user))) {
                    alive.add(record.tensor());
                }
            }
            found.add(alive);
            for (Operator operator : graph.operators()) {
                int index = operator.index();
                BitSet next = (BitSet) state.clone();
                if (state.get(index)) {
                    next.set(count + index);
                } else if (graph.operators().stream()
                        .filter(w -> operator.inputs().contains(w.outputs().get(0)))
                        .allMatch(w -> state.get(count + w.index()))) {
                    next.set(index);
                }
                if (seen.add(next)) {
                    states.add(next);
                }
            }
        }
        return found;
    }
}
