package org.djlplan.delegation.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.common.collect.ImmutableList;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.partition.RandomGraphs.Delegable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.junit.jupiter.api.Test;

@Domain(RandomGraphs.class)
@Domain(DomainContext.Global.class)
class ReducedPartitionsTest {

    private static List<Set<Integer>> chain(Set<Integer> excluded) {
        GraphSketch sketch = new GraphSketch();
        int x = sketch.input(1, 8, 8, 4);
        for (int i = 0; i < 6; i++) {
            x = sketch.operator("ABS", List.of(1, 8, 8, 4), x);
        }
        return DelegatedGraph.partitionsWithout(
                sketch.output(x).build(), List.of(Set.of(0, 1, 2, 3), Set.of(5)), excluded);
    }

    @Test
    void of_operatorInTheMiddle_twoPartitionsOfOne() {
        assertEquals(List.of(Set.of(0, 1), Set.of(3), Set.of(5)), chain(Set.of(2)));
        assertEquals(List.of(Set.of(1, 2, 3), Set.of(5)), chain(Set.of(0)));
        assertEquals(List.of(Set.of(0, 1, 2, 3), Set.of(5)), chain(Set.of(4)), "not offered");
        assertEquals(List.of(Set.of(0, 1, 2, 3)), chain(Set.of(5)));
        assertEquals(List.of(), chain(Set.of(0, 1, 2, 3, 5)));
    }

    /** Two convolutions share their weights of 16 bits, another has its own. */
    @Test
    void of_readerOfAConstant_constantStaysWithIt() {
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
        assertEquals(
                List.of(Set.of(1, 2, 3)), DelegatedGraph.partitionsWithout(graph, all, Set.of(4)));
        assertEquals(
                List.of(Set.of(0, 2), Set.of(4)),
                DelegatedGraph.partitionsWithout(graph, all, Set.of(3)));
        assertEquals(
                List.of(Set.of(1, 2, 3, 4)),
                DelegatedGraph.partitionsWithout(graph, all, Set.of(0)),
                "unpacked by the CPU kernels");
    }

    @Property(tries = 300)
    void of_anything_isWhatTheEngineMakesOfTheRest(@ForAll Delegable model, @ForAll Random random) {
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
        List<Set<Integer>> reduced = DelegatedGraph.partitionsWithout(graph, given, excluded);

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
        assertEquals(new HashSet<>(RandomGraphs.partitions(graph, taken)), new HashSet<>(reduced));
        assertEquals(given, DelegatedGraph.partitionsWithout(graph, given, Set.of()));
    }

    private static List<Integer> flat(List<Set<Integer>> sets) {
        List<Integer> all = new ArrayList<>();
        sets.forEach(all::addAll);
        return all;
    }
}
