package org.djlplan.study.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.Conflicts;
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
}
