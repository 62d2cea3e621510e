package org.djlplan.delegation.internal.choice;

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
import org.djlplan.delegation.internal.partition.PieceGraph;

/**
 * Finds the unions of pieces with the lowest predicted cost.
 *
 * <p>Up to {@value #ENUMERATED} pieces, all unions are examined. For more pieces, it examines the
 * unions on two descents, from nothing and from everything delegated: one piece is flipped at a
 * time, the one that improves most, until none improves. Costs are nearly additive, so the result
 * is near the best.
 */
public final class Unions {

    /** All unions of this many pieces are examined: 16384. */
    public static final int ENUMERATED = 14;

    /** For each requested union, this many are examined exactly. */
    private static final int EXACT = 4;

    /**
     * A union.
     *
     * @param pieces indices
     * @param kernels number of resulting delegate kernels
     */
    public record Union(Set<Integer> pieces, int kernels) {
        public Union {
            pieces = ImmutableSet.copyOf(pieces);
        }
    }

    private record Costed(Union union, double cost) {}

    private final PieceGraph graph;
    private final ContiguousSet<Integer> pieces;

    /**
     * @param graph with at least one piece
     */
    public Unions(PieceGraph graph) {
        checkArgument(!graph.pieces().isEmpty(), "no pieces");
        this.graph = graph;
        this.pieces = graph.indices();
    }

    /** Returns all unions, even if there are too many to measure. */
    public static Set<Set<Integer>> all(PieceGraph graph) {
        return Sets.powerSet(graph.indices());
    }

    /** Returns the best unions by predicted cost, the best first. */
    public List<Union> best(int count, ToDoubleFunction<Union> cost) {
        Stream<Costed> looked =
                pieces.size() <= ENUMERATED
                        ? all(graph).stream().map(set -> costed(set, cost))
                        : downhill(cost);
        Comparator<Costed> cheapest = Comparator.comparingDouble(Costed::cost);
        // Computing the engine's delegate kernels takes time, so it is done for the best only.
        Stream<Costed> exact =
                Ordering.from(cheapest).leastOf(looked.iterator(), EXACT * count).stream()
                        .map(Costed::union)
                        .map(union -> new Union(union.pieces(), graph.kernels(union.pieces())))
                        .map(union -> new Costed(union, cost.applyAsDouble(union)));
        return Ordering.from(cheapest).leastOf(exact.iterator(), count).stream()
                .map(Costed::union)
                .toList();
    }

    private Costed costed(Set<Integer> set, ToDoubleFunction<Union> cost) {
        Union union = new Union(set, kernelsOfChain(set));
        return new Costed(union, cost.applyAsDouble(union));
    }

    /** Returns the number of delegate kernels of a union if the operators were a chain. */
    private int kernelsOfChain(Set<Integer> union) {
        int kernels = 0;
        for (int piece : union) {
            boolean goesOn =
                    union.contains(piece - 1)
                            && graph.pieces().get(piece - 1).operators().last() + 1
                                    == graph.pieces().get(piece).operators().first();
            kernels += goesOn ? 0 : 1;
        }
        return kernels;
    }

    private Stream<Costed> downhill(ToDoubleFunction<Union> cost) {
        List<Costed> looked = new ArrayList<>();
        for (Set<Integer> start : List.of(Set.<Integer>of(), pieces)) {
            Costed here = costed(start, cost);
            looked.add(here);
            while (true) {
                Set<Integer> from = here.union().pieces();
                List<Costed> near =
                        pieces.stream()
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
