package org.djlplan.delegation.partition;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkElementIndex;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.graph.Graph;

/**
 * The units of a graph, and what becomes of a union of them.
 *
 * <p>Constant operators belong to no unit, since they run in no inference: one goes to the delegate
 * if everything that reads its output does. (To delegate it with only some of its readers makes
 * XNNPACK compute wrong results.)
 */
public final class UnitGraph {

    private final Dataflow flow;
    private final ImmutableList<Unit> units;

    /** The operators of each unit. */
    private final List<BitSet> members = new ArrayList<>();

    private final BitSet constants = new BitSet();

    private UnitGraph(Dataflow flow, List<? extends Set<Integer>> partitions, int maxUnits) {
        this.flow = flow;
        List<Cuts.Piece> whole = new ArrayList<>();
        BitSet seen = new BitSet();
        for (int i = 0; i < partitions.size(); i++) {
            List<Integer> working = new ArrayList<>();
            for (int operator : ImmutableSortedSet.copyOf(partitions.get(i))) {
                checkElementIndex(operator, flow.graph().operators().size(), "operator");
                checkArgument(!seen.get(operator), "operator %s is in two partitions", operator);
                seen.set(operator);
                if (flow.isConstantOperator(operator)) {
                    constants.set(operator);
                } else {
                    working.add(operator);
                }
            }
            if (!working.isEmpty()) {
                whole.add(new Cuts.Piece(working, i));
            }
        }
        units =
                Cuts.of(flow, whole, maxUnits).stream()
                        .map(this::unit)
                        .collect(ImmutableList.toImmutableList());
        for (Unit unit : units) {
            BitSet operators = new BitSet();
            unit.operators().forEach(operators::set);
            members.add(operators);
        }
    }

    /**
     * Returns the units of a graph.
     *
     * @param partitions what the delegate reported: disjoint sets of operators, each convex, in
     *     execution order
     * @param maxUnits up to how many units partitions are cut into; no partition is ever dropped or
     *     merged with another, so that there may be more
     * @throws IllegalArgumentException if two partitions have an operator in common
     * @throws IndexOutOfBoundsException if the graph has no such operator
     */
    public static UnitGraph of(Graph graph, List<? extends Set<Integer>> partitions, int maxUnits) {
        return new UnitGraph(Dataflow.of(graph), partitions, maxUnits);
    }

    private Unit unit(Cuts.Piece piece) {
        BitSet operators = new BitSet();
        piece.operators().forEach(operators::set);
        return new Unit(
                ImmutableSortedSet.copyOf(piece.operators()),
                piece.partition(),
                operators.stream()
                        .mapToLong(i -> Flops.of(flow.graph(), flow.graph().operators().get(i)))
                        .sum(),
                flow.weightBytes(operators),
                flow.crossingBytes(operators));
    }

    /** Returns the data flow of the graph. */
    public Dataflow flow() {
        return flow;
    }

    /** Returns the units, by partition, and in execution order within one. */
    public ImmutableList<Unit> units() {
        return units;
    }

    /**
     * Returns the operators that are delegated with some units: theirs, and the constant operators
     * that the delegate reported and that only they read.
     *
     * @throws IndexOutOfBoundsException if there is no such unit
     */
    public SortedSet<Integer> operators(Set<Integer> unitIndices) {
        return operators(bits(unitIndices)).stream()
                .boxed()
                .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
    }

    /**
     * Returns the bytes that delegate kernels take in and give out in one inference, when some
     * units are delegated; {@link DelegatedGraph#crossingBytes()}.
     *
     * @throws IndexOutOfBoundsException if there is no such unit
     */
    public long crossingBytes(Set<Integer> unitIndices) {
        return delegate(bits(unitIndices)).crossingBytes();
    }

    /**
     * Returns the number of delegate kernels that some units become together. Units that depend on
     * each other only through the delegate become one.
     *
     * @throws IndexOutOfBoundsException if there is no such unit
     */
    public int runs(Set<Integer> unitIndices) {
        return delegate(bits(unitIndices)).kernels();
    }

    /** Returns the graph with some units delegated. */
    public DelegatedGraph delegate(BitSet unitIndices) {
        return new DelegatedGraph(flow, operators(unitIndices));
    }

    private BitSet operators(BitSet unitIndices) {
        BitSet operators = new BitSet();
        unitIndices.stream().forEach(i -> operators.or(members.get(i)));
        // Backwards, as a constant operator may read another's output.
        for (int i = constants.previousSetBit(flow.graph().operators().size());
                i >= 0;
                i = constants.previousSetBit(i - 1)) {
            operators.set(i, flow.isOnlyReadBy(i, operators));
        }
        return operators;
    }

    private BitSet bits(Set<Integer> unitIndices) {
        BitSet bits = new BitSet();
        for (int index : unitIndices) {
            bits.set(checkElementIndex(index, units.size(), "unit"));
        }
        return bits;
    }
}
