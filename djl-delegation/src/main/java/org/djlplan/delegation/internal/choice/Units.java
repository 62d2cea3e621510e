package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkElementIndex;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The partitions of a graph as units: sets of operators that are delegated completely or not at
 * all.
 *
 * <p>Constant operators belong to no unit, because they run in no inference: such an operator is
 * delegated if all readers of its output are. (XNNPACK computes wrong results if a constant
 * operator is delegated with only some of its readers.)
 */
public final class Units {

    private final Dataflow flow;
    private final ImmutableList<Unit> all;
    private final BitSet constants;

    private Units(Dataflow flow, List<Unit> all, BitSet constants) {
        this.flow = flow;
        this.all = ImmutableList.copyOf(all);
        this.constants = constants;
    }

    /**
     * Returns the units of a graph: the partitions that have other operators than constant ones.
     *
     * @param partitions reported by the delegate: disjoint sets of operators, each convex, in
     *     execution order
     * @throws IllegalArgumentException if two partitions have an operator in common
     * @throws IndexOutOfBoundsException if the graph has no such operator
     */
    public static Units of(Graph graph, List<? extends Set<Integer>> partitions) {
        Dataflow flow = Dataflow.of(graph);
        List<Unit> units = new ArrayList<>();
        BitSet constants = new BitSet();
        BitSet seen = new BitSet();
        for (int i = 0; i < partitions.size(); i++) {
            ImmutableSortedSet.Builder<Integer> working = ImmutableSortedSet.naturalOrder();
            for (int operator : partitions.get(i)) {
                checkElementIndex(operator, graph.operators().size(), "operator");
                checkArgument(!seen.get(operator), "operator %s is in two partitions", operator);
                seen.set(operator);
                if (flow.isConstantOperator(operator)) {
                    constants.set(operator);
                } else {
                    working.add(operator);
                }
            }
            SortedSet<Integer> operators = working.build();
            if (!operators.isEmpty()) {
                units.add(new Unit(operators, i));
            }
        }
        return new Units(flow, units, constants);
    }

    /** Returns the units, in execution order. */
    public ImmutableList<Unit> all() {
        return all;
    }

    /** Returns the indices of all units. */
    public ContiguousSet<Integer> indices() {
        return ContiguousSet.closedOpen(0, all.size());
    }

    /** Returns other units of the same graph. */
    public Units with(Collection<Unit> others) {
        List<Unit> sorted = new ArrayList<>(others);
        sorted.sort(Comparator.comparing(unit -> unit.operators().first()));
        return new Units(flow, sorted, constants);
    }

    /**
     * Returns units of which each is a part of one of these: the largest is halved until there are
     * enough, where few bytes cross.
     *
     * @param count of the units, if they have so many operators
     */
    public Units cut(int count) {
        List<Unit> units = new ArrayList<>(all);
        while (units.size() < count) {
            int largest = 0;
            for (int i = 1; i < units.size(); i++) {
                boolean larger = size(units.get(i)) > size(units.get(largest));
                largest = larger ? i : largest;
            }
            if (units.isEmpty() || size(units.get(largest)) == 1) {
                break;
            }
            Unit whole = units.remove(largest);
            List<Integer> operators = List.copyOf(whole.operators());
            int end = narrowest(operators);
            units.add(largest, part(operators.subList(0, end), whole));
            units.add(largest + 1, part(operators.subList(end, operators.size()), whole));
        }
        return new Units(flow, units, constants);
    }

    private static int size(Unit unit) {
        return unit.operators().size();
    }

    private static Unit part(List<Integer> operators, Unit whole) {
        return new Unit(ImmutableSortedSet.copyOf(operators), whole.partition());
    }

    /**
     * Returns the number of operators before the narrowest cut in the middle half. Operators are in
     * execution order, so nothing flows back across a cut.
     */
    private int narrowest(List<Integer> operators) {
        int from = Math.max(1, operators.size() / 4);
        int best = from;
        long fewest = Long.MAX_VALUE;
        for (int end = from; end <= operators.size() - from; end++) {
            BitSet before = new BitSet();
            operators.subList(0, end).forEach(before::set);
            long bytes = 0;
            for (int i = 0; i < end; i++) {
                for (int id : flow.writes(operators.get(i))) {
                    bytes += flow.isReadOutside(id, before) ? flow.bytes(id) : 0;
                }
            }
            if (bytes < fewest) {
                fewest = bytes;
                best = end;
            }
        }
        return best;
    }

    /**
     * Returns the operators that are delegated with some units: their own, and the reported
     * constant operators that only they read.
     *
     * @throws IndexOutOfBoundsException if there is no such unit
     */
    public SortedSet<Integer> operators(Set<Integer> indices) {
        BitSet operators = new BitSet();
        for (int index : indices) {
            all.get(index).operators().forEach(operators::set);
        }
        // Backwards, because a constant operator may read another's output.
        for (int i = constants.length() - 1; i >= 0; i = constants.previousSetBit(i - 1)) {
            operators.set(i, flow.isOnlyReadBy(i, operators));
        }
        return operators.stream()
                .boxed()
                .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
    }

    /**
     * A partition, or a part of one, that is delegated completely or not at all. It is convex: no
     * path leaves it and returns.
     *
     * @param operators their indices in the graph, ascending, without constant operators
     * @param partition index among the partitions that the delegate reported
     */
    public record Unit(SortedSet<Integer> operators, int partition) {

        public Unit {
            operators = ImmutableSortedSet.copyOf(operators);
            checkArgument(!operators.isEmpty(), "a unit without operators");
            checkArgument(partition >= 0, "partition: %s", partition);
        }
    }
}
