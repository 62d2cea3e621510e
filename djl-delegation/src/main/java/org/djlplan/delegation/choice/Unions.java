package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Ordering;
import com.google.common.collect.Sets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.djlplan.delegation.partition.UnitGraph;

/**
 * The unions of some units, and the best of them by a predicted cost.
 *
 * <p>Up to {@value #ENUMERATED} units, all unions are looked at. Of more units, those that are on
 * the way from nothing and from everything downhill: one unit is flipped at a time, the one that
 * brings most, until none brings anything. As costs are nearly additive, that ends near the best.
 */
public final class Unions {

    /** All unions of so many units are looked at: 16384. */
    public static final int ENUMERATED = 14;

    /** For each one wanted, so many are looked at closely. */
    private static final int EXACT = 4;

    /**
     * A union.
     *
     * @param units indices
     * @param kernels how many delegate kernels it becomes
     */
    public record Union(Set<Integer> units, int kernels) {
        public Union {
            units = ImmutableSet.copyOf(units);
        }
    }

    private record Costed(Union union, double cost) {}

    private final UnitGraph graph;
    private final ContiguousSet<Integer> units;

    /**
     * @param graph with at least one unit
     */
    public Unions(UnitGraph graph) {
        checkArgument(!graph.units().isEmpty(), "no units");
        this.graph = graph;
        this.units = ContiguousSet.closedOpen(0, graph.units().size());
    }

    /** Returns the best unions, the best first. */
    public List<Union> best(int count, ToDoubleFunction<Union> cost) {
        Stream<Costed> looked =
                units.size() <= ENUMERATED
                        ? Sets.powerSet(units).stream().map(set -> costed(set, cost))
                        : downhill(cost);
        Comparator<Costed> cheapest = Comparator.comparingDouble(Costed::cost);
        // What the engine makes of a union takes a while to find out, so only for the best.
        Stream<Costed> exact =
                Ordering.from(cheapest).leastOf(looked.iterator(), EXACT * count).stream()
                        .map(Costed::union)
                        .map(union -> new Union(union.units(), graph.runs(union.units())))
                        .map(union -> new Costed(union, cost.applyAsDouble(union)));
        return Ordering.from(cheapest).leastOf(exact.iterator(), count).stream()
                .map(Costed::union)
                .toList();
    }

    private Costed costed(Set<Integer> set, ToDoubleFunction<Union> cost) {
        Union union = new Union(set, pieces(set));
        return new Costed(union, cost.applyAsDouble(union));
    }

    /** Returns how many delegate kernels a union would become if operators were a chain. */
    private int pieces(Set<Integer> union) {
        int pieces = 0;
        for (int unit : union) {
            boolean goesOn =
                    union.contains(unit - 1)
                            && graph.units().get(unit - 1).operators().last() + 1
                                    == graph.units().get(unit).operators().first();
            pieces += goesOn ? 0 : 1;
        }
        return pieces;
    }

    private Stream<Costed> downhill(ToDoubleFunction<Union> cost) {
        List<Costed> looked = new ArrayList<>();
        for (Set<Integer> start : List.of(Set.<Integer>of(), units)) {
            Costed here = costed(start, cost);
            looked.add(here);
            while (true) {
                Set<Integer> from = here.union().units();
                List<Costed> near =
                        units.stream()
                                .map(u -> costed(Sets.symmetricDifference(from, Set.of(u)), cost))
                                .toList();
                looked.addAll(near);
                Costed next =
                        near.stream().min(Comparator.comparingDouble(Costed::cost)).orElseThrow();
                if (next.cost() >= here.cost()) {
                    break;
                }
                here = next;
            }
        }
        return looked.stream().distinct();
    }
}
