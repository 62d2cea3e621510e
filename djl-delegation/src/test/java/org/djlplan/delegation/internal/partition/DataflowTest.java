package org.djlplan.delegation.internal.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.internal.partition.DelegableGraphs.Delegable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;

@Domain(DelegableGraphs.class)
@Domain(DomainContext.Global.class)
class DataflowTest {

    private static final List<Integer> SHAPE = List.of(1, 4, 4, 1);

    private static BitSet bits(int... operators) {
        BitSet bits = new BitSet();
        IntStream.of(operators).forEach(bits::set);
        return bits;
    }

    @Test
    void kernels_ofBranchesThatDoNotMeet_areOne() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(1, 4, 4, 1);
        int left = sketch.operator("CONV_2D", SHAPE, input);
        int right = sketch.operator("CONV_2D", SHAPE, input);
        int sum = sketch.operator("CUSTOM:sum", SHAPE, left, right);
        Dataflow flow = Dataflow.of(sketch.output(sum).build());
        assertEquals(List.of(bits(0, 1)), flow.kernels(bits(0, 1)));
    }

    @Test
    void kernels_ofUnpackingOnly_areKernelsToo() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(1, 1, 1, 1);
        int custom = sketch.operator("CUSTOM:x", SHAPE, sketch.input(1, 4, 4, 1));
        int conv = sketch.operator("CONV_2D", SHAPE, custom, filter);
        Graph graph = sketch.output(conv).build();
        assertEquals(List.of(bits(0), bits(2)), Dataflow.of(graph).kernels(bits(0, 2)));
    }

    private static List<Set<Integer>> chain(Set<Integer> excluded) {
        GraphSketch sketch = new GraphSketch();
        int x = sketch.input(1, 8, 8, 4);
        for (int i = 0; i < 6; i++) {
            x = sketch.operator("ABS", List.of(1, 8, 8, 4), x);
        }
        return Dataflow.partitionsWithout(
                sketch.output(x).build(), List.of(Set.of(0, 1, 2, 3), Set.of(5)), excluded);
    }

    @Test
    void partitionsWithout_operatorInTheMiddle_twoPartitionsOfOne() {
        assertEquals(List.of(Set.of(0, 1), Set.of(3), Set.of(5)), chain(Set.of(2)));
        assertEquals(List.of(Set.of(1, 2, 3), Set.of(5)), chain(Set.of(0)));
        assertEquals(List.of(Set.of(0, 1, 2, 3), Set.of(5)), chain(Set.of(4)), "not offered");
        assertEquals(List.of(Set.of(0, 1, 2, 3)), chain(Set.of(5)));
        assertEquals(List.of(), chain(Set.of(0, 1, 2, 3, 5)));
    }

    /** Two convolutions share their 16-bit weights; a third one has its own. */
    @Test
    void partitionsWithout_readerOfAConstant_constantStaysWithIt() {
        GraphSketch sketch = new GraphSketch();
        List<Integer> shape = List.of(1, 8, 8, 4);
        int x = sketch.input(1, 8, 8, 4);
        int shared = sketch.halfWeights(4, 1, 1, 4);
        int own = sketch.halfWeights(4, 1, 1, 4);
        x = sketch.operator("CONV_2D", shape, x, shared);
        x = sketch.operator("CONV_2D", shape, x, own);
        x = sketch.operator("CONV_2D", shape, x, shared);
        Graph graph = sketch.output(x).build();
        List<Set<Integer>> all = List.of(Set.of(0, 1, 2, 3, 4));
        assertEquals(List.of(Set.of(1, 2, 3)), Dataflow.partitionsWithout(graph, all, Set.of(4)));
        assertEquals(
                List.of(Set.of(0, 2), Set.of(4)),
                Dataflow.partitionsWithout(graph, all, Set.of(3)));
        assertEquals(
                List.of(Set.of(1, 2, 3, 4)),
                Dataflow.partitionsWithout(graph, all, Set.of(0)),
                "unpacked by the CPU kernels");
    }

    @Property(tries = 300)
    void partitionsWithout_anyOperators_equalsTheEnginesPartitions(
            @ForAll Delegable model, @ForAll Random random) {
        Graph graph = model.graph();
        Set<Integer> excluded = new HashSet<>();
        for (Operator operator : graph.operators()) {
            if (random.nextInt(6) == 0) {
                excluded.add(operator.index());
            }
        }
        excluded.add(random.nextInt(graph.operators().size()));
        BitSet left = new BitSet();
        model.all().stream().filter(i -> !excluded.contains(i)).forEach(left::set);
        List<Set<Integer>> given = ImmutableList.copyOf(model.partitions());
        List<Set<Integer>> reduced = Dataflow.partitionsWithout(graph, given, excluded);

        BitSet taken = new BitSet();
        reduced.forEach(partition -> partition.forEach(taken::set));
        for (Operator operator : graph.operators()) {
            boolean constant = operator.type().equals("DEQUANTIZE");
            boolean wanted =
                    left.get(operator.index())
                            && (!constant
                                    || graph.operators().stream()
                                            .filter(o -> o.inputs().containsAll(operator.outputs()))
                                            .allMatch(o -> taken.get(o.index())));
            assertEquals(wanted, taken.get(operator.index()), operator::toString);
        }
        assertFalse(Dataflow.splitsConstants(graph, new HashSet<>(flat(reduced))));
        assertEquals(
                new HashSet<>(DelegableGraphs.partitions(graph, taken)), new HashSet<>(reduced));
        assertEquals(given, Dataflow.partitionsWithout(graph, given, Set.of()));
    }

    private static List<Integer> flat(List<Set<Integer>> sets) {
        List<Integer> all = new ArrayList<>();
        sets.forEach(all::addAll);
        return all;
    }
}
