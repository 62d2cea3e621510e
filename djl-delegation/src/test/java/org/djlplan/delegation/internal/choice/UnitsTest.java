package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.internal.choice.DelegableGraphs.Delegable;
import org.djlplan.delegation.internal.choice.Units.Unit;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.DiscreteDomain;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Range;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.junit.jupiter.api.Test;

/** Checks the units of small graphs, and properties of those of random graphs. */
@Domain(DelegableGraphs.class)
@Domain(DomainContext.Global.class)
class UnitsTest {

    /** Four convolutions; the second one's output has the fewest channels. */
    private static Graph hourglass() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 32, 32, 16);
        for (int channels : List.of(32, 4, 32, 16)) {
            tensor = sketch.conv(tensor, channels, 5);
        }
        return sketch.output(tensor).build();
    }

    private static Set<Integer> range(int first, int last) {
        return ContiguousSet.create(Range.closed(first, last), DiscreteDomain.integers());
    }

    @Test
    void cut_onePartition_isCutWhereFewestBytesCross() {
        List<Unit> units = Units.of(hourglass(), List.of(range(0, 3))).cut(2).all();
        assertEquals(
                List.of(range(0, 1), range(2, 3)), units.stream().map(Unit::operators).toList());
        assertEquals(List.of(0, 0), units.stream().map(Unit::partition).toList());
    }

    @Test
    void cut_intoNoMoreThanThereAre_changesNothing() {
        List<Set<Integer>> partitions = List.of(range(0, 1), range(3, 3));
        for (int count : new int[] {0, 1, 2}) {
            assertEquals(
                    partitions,
                    Units.of(hourglass(), partitions).cut(count).all().stream()
                            .map(Unit::operators)
                            .toList());
        }
    }

    @Test
    void operators_ofWeightsUnpackedTwice_haveBothSteps() {
        GraphSketch sketch = new GraphSketch();
        int sparse = sketch.weights(4, 3, 3, 4);
        int dense = sketch.operator("DENSIFY", List.of(4, 3, 3, 4), sparse);
        int filter = sketch.operator("DEQUANTIZE", List.of(4, 3, 3, 4), dense);
        int input = sketch.input(1, 8, 8, 4);
        int result = sketch.operator("CONV_2D", List.of(1, 8, 8, 4), input, filter);
        Units units = Units.of(sketch.output(result).build(), List.of(Set.of(0, 1, 2)));
        assertEquals(Set.of(2), units.all().get(0).operators());
        assertEquals(Set.of(0, 1, 2), units.operators(Set.of(0)));
    }

    @Test
    void of_operatorsOutsideTheGraph_throws() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Units.of(hourglass(), List.of(range(0, 2), range(2, 3))));
        assertThrows(
                IndexOutOfBoundsException.class, () -> Units.of(hourglass(), List.of(range(0, 4))));
        Units units = Units.of(hourglass(), List.of(range(0, 3)));
        assertThrows(IndexOutOfBoundsException.class, () -> units.operators(Set.of(1)));
    }

    @Property(tries = 300)
    void units_ofAnyGraph_areDisjointAndCoverAllThatRuns(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int count) {
        SortedSet<Integer> covered = new TreeSet<>();
        for (Unit unit : Units.of(model.graph(), model.partitions()).cut(count).all()) {
            for (int operator : unit.operators()) {
                assertTrue(covered.add(operator), () -> operator + " is in two units");
                assertTrue(model.partitions().get(unit.partition()).contains(operator));
            }
        }
        assertEquals(Sets.filter(model.all(), i -> !isUnpacking(model.graph(), i)), covered);
    }

    @Property(tries = 300)
    void units_ofAnyGraph_areConvex(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int count) {
        for (Unit unit : Units.of(model.graph(), model.partitions()).cut(count).all()) {
            assertConvex(model.graph(), unit.operators());
        }
    }

    @Property(tries = 300)
    void cut_anyGraph_makesAsManyAsThereAreOperatorsFor(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int count) {
        Graph graph = model.graph();
        long partitions =
                model.partitions().stream()
                        .filter(set -> !set.stream().allMatch(i -> isUnpacking(graph, i)))
                        .count();
        long working = model.all().stream().filter(i -> !isUnpacking(graph, i)).count();
        assertEquals(
                Math.max(partitions, Math.min(count, working)),
                Units.of(graph, model.partitions()).cut(count).all().size());
    }

    @Property(tries = 300)
    void operators_ofAnyUnion_haveExactlyTheUnpackingThatOnlyTheyRead(
            @ForAll Delegable model, @ForAll Random random) {
        Units units = Units.of(model.graph(), model.partitions()).cut(12);
        Set<Integer> union = subset(units, random);
        Set<Integer> working = new HashSet<>();
        union.forEach(i -> working.addAll(units.all().get(i).operators()));
        SortedSet<Integer> operators = units.operators(union);
        assertEquals(working, Sets.filter(operators, i -> !isUnpacking(model.graph(), i)));
        for (int i : model.all()) {
            if (isUnpacking(model.graph(), i)) {
                int output = model.graph().operators().get(i).outputs().get(0);
                boolean onlyThey =
                        model.graph().operators().stream()
                                .filter(each -> each.inputs().contains(output))
                                .allMatch(each -> working.contains(each.index()));
                assertEquals(onlyThey, operators.contains(i), () -> "operator " + i);
            }
        }
    }

    @Property(tries = 300)
    void kernels_ofAnyUnion_areTheEnginesPartitions(
            @ForAll Delegable model, @ForAll Random random) {
        Graph graph = model.graph();
        Units units = Units.of(graph, model.partitions()).cut(12);
        Set<Integer> union = subset(units, random);
        BitSet taken = bits(units.operators(union));
        List<SortedSet<Integer>> engines = DelegableGraphs.partitions(graph, taken);
        Dataflow flow = Dataflow.of(graph);
        assertEquals(engines.stream().map(UnitsTest::bits).toList(), flow.kernels(taken));
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
        assertFalse(
                Dataflow.splitsConstants(
                        graph, taken.stream().boxed().collect(Collectors.toSet())));
        assertEquals(
                new HashSet<>(DelegableGraphs.partitions(graph, taken)), new HashSet<>(reduced));
        assertEquals(given, Dataflow.partitionsWithout(graph, given, Set.of()));
    }

    private static BitSet bits(Set<Integer> set) {
        BitSet bits = new BitSet();
        set.forEach(bits::set);
        return bits;
    }

    private static Set<Integer> subset(Units units, Random random) {
        Set<Integer> union = new HashSet<>();
        IntStream.range(0, units.all().size())
                .filter(i -> random.nextBoolean())
                .forEach(union::add);
        return union;
    }

    private static boolean isUnpacking(Graph graph, int operator) {
        return graph.operators().get(operator).type().equals("DEQUANTIZE");
    }

    /** Follows every path out of the set; no path may come back. */
    private static void assertConvex(Graph graph, Set<Integer> operators) {
        Set<Integer> left = new HashSet<>();
        for (Operator operator : graph.operators()) {
            boolean fromOutside = operator.inputs().stream().anyMatch(left::contains);
            boolean inside = operators.contains(operator.index());
            assertFalse(inside && fromOutside, () -> "a path comes back at " + operator);
            boolean fromInside =
                    graph.operators().stream()
                            .filter(each -> operators.contains(each.index()))
                            .flatMap(each -> each.outputs().stream())
                            .anyMatch(operator.inputs()::contains);
            if (!inside && (fromInside || fromOutside)) {
                left.addAll(operator.outputs());
            }
        }
    }
}
