package org.djlplan.delegation.internal.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.internal.partition.DelegableGraphs.Delegable;
import org.djlplan.delegation.internal.partition.Units.Unit;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.thirdparty.guava.collect.Sets;

/** Checks properties of the units of random graphs. */
@Domain(DelegableGraphs.class)
@Domain(DomainContext.Global.class)
class UnitsPropertyTest {

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
    void operators_ofAllUnits_areAllThatIsDelegable(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int count) {
        Units units = Units.of(model.graph(), model.partitions()).cut(count);
        Set<Integer> all = new HashSet<>();
        for (int i = 0; i < units.all().size(); i++) {
            all.add(i);
        }
        assertEquals(model.all(), units.operators(all));
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
        assertEquals(engines.stream().map(UnitsPropertyTest::bits).toList(), flow.kernels(taken));
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
