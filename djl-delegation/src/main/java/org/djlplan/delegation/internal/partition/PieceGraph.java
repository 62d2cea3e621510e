package org.djlplan.delegation.internal.partition;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkElementIndex;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.graph.Graph;

/**
 * The pieces of a graph, and the delegate kernels that the engine makes of a union of them.
 *
 * <p>Constant operators belong to no piece, because they run in no inference: such an operator is
 * delegated if all readers of its output are. (To delegate it with only some of its readers makes
 * XNNPACK compute wrong results.)
 */
public final class PieceGraph {

    private final Dataflow flow;
    private final ImmutableList<Piece> pieces;

    /** The operators of each piece. */
    private final List<BitSet> members = new ArrayList<>();

    private final BitSet constants = new BitSet();

    private PieceGraph(Dataflow flow, List<? extends Set<Integer>> partitions, int maxPieces) {
        this.flow = flow;
        List<Cuts.Part> whole = new ArrayList<>();
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
                whole.add(new Cuts.Part(working, i));
            }
        }
        pieces =
                Cuts.of(flow, whole, maxPieces).stream()
                        .map(this::piece)
                        .collect(ImmutableList.toImmutableList());
        for (Piece piece : pieces) {
            BitSet operators = new BitSet();
            piece.operators().forEach(operators::set);
            members.add(operators);
        }
    }

    /**
     * Returns the pieces of a graph.
     *
     * @param partitions reported by the delegate: disjoint sets of operators, each convex, in
     *     execution order
     * @param maxPieces limit up to which partitions are cut; partitions are never dropped or
     *     merged, so there may be more pieces
     * @throws IllegalArgumentException if two partitions have an operator in common
     * @throws IndexOutOfBoundsException if the graph has no such operator
     */
    public static PieceGraph of(
            Graph graph, List<? extends Set<Integer>> partitions, int maxPieces) {
        return new PieceGraph(Dataflow.of(graph), partitions, maxPieces);
    }

    private Piece piece(Cuts.Part piece) {
        BitSet operators = new BitSet();
        piece.operators().forEach(operators::set);
        return new Piece(
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

    /** Returns the pieces, by partition, and in execution order within one. */
    public ImmutableList<Piece> pieces() {
        return pieces;
    }

    /** Returns the indices of all pieces. */
    public ContiguousSet<Integer> indices() {
        return ContiguousSet.closedOpen(0, pieces.size());
    }

    /**
     * Returns the operators that are delegated with some pieces: their own, and the reported
     * constant operators that only they read.
     *
     * @throws IndexOutOfBoundsException if there is no such piece
     */
    public SortedSet<Integer> operators(Set<Integer> pieceIndices) {
        return operators(bits(pieceIndices)).stream()
                .boxed()
                .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
    }

    /**
     * Returns the bytes that enter and leave delegate kernels in one inference if some pieces are
     * delegated; {@link DelegatedGraph#crossingBytes()}.
     *
     * @throws IndexOutOfBoundsException if there is no such piece
     */
    public long crossingBytes(Set<Integer> pieceIndices) {
        return delegate(bits(pieceIndices)).crossingBytes();
    }

    /**
     * Returns the number of delegate kernels of some pieces together. Pieces that depend on each
     * other only through the delegate are in one kernel.
     *
     * @throws IndexOutOfBoundsException if there is no such piece
     */
    public int kernels(Set<Integer> pieceIndices) {
        return delegate(bits(pieceIndices)).kernels();
    }

    /** Returns the graph with some pieces delegated. */
    public DelegatedGraph delegate(BitSet pieceIndices) {
        return new DelegatedGraph(flow, operators(pieceIndices));
    }

    private BitSet operators(BitSet pieceIndices) {
        BitSet operators = new BitSet();
        pieceIndices.stream().forEach(i -> operators.or(members.get(i)));
        // Backwards, because a constant operator may read another's output.
        for (int i = constants.previousSetBit(flow.graph().operators().size());
                i >= 0;
                i = constants.previousSetBit(i - 1)) {
            operators.set(i, flow.isOnlyReadBy(i, operators));
        }
        return operators;
    }

    private BitSet bits(Set<Integer> pieceIndices) {
        BitSet bits = new BitSet();
        for (int index : pieceIndices) {
            bits.set(checkElementIndex(index, pieces.size(), "piece"));
        }
        return bits;
    }
}
