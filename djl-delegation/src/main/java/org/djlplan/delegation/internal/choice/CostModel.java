package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Ordering;
import org.djlplan.thirdparty.guava.collect.Sets;

/**
 * Predicts the latency and the memory of any union of pieces from measurements of a few unions, and
 * finds the unions with the best predictions.
 *
 * <p>Latency: the time of a piece depends on its own side, delegate or CPU kernels, and on the side
 * of the previous piece: whether the input is in the right cache and layout, and whether a delegate
 * kernel starts or continues. Unsupported operators have a time that depends on the side of the
 * previous piece.
 *
 * <pre>
 * nanos(S) = start + Σ piece(u, u ∈ S, u−1 ∈ S) + after(u, u ∈ S)
 * </pre>
 *
 * The node times of two unions, nothing and everything delegated, give the terms for neighbours on
 * the same side. These also serve as estimates for neighbours on different sides. Two more unions
 * (every second piece, and the remaining pieces) give all terms. The time of a delegate kernel that
 * covers several pieces is divided in proportion to their operators' times on the CPU.
 *
 * <p>Memory: a union takes the memory of the CPU kernels plus an amount for each piece (packed
 * weights minus the saved part of the arena) and each delegate kernel (a workspace). The amounts
 * are fitted to the measured unions, starting with zero: for one union after another, the
 * difference between measured and predicted memory is distributed over the union's pieces and
 * kernels, in proportion to their bytes; this is repeated several times (Kaczmarz 1937). So
 * predictions agree with the measurements, and are good estimates for similar unions.
 *
 * <p>Best unions: up to {@value #ENUMERATED} pieces, all unions are predicted. For more pieces,
 * only the unions on two descents are predicted, from nothing and from everything delegated: each
 * step flips the piece that improves the cost most, until no piece does. Costs are nearly additive,
 * so the result is near the best.
 */
public final class CostModel {

    /** Up to this many pieces, all unions are predicted: at most 16384. */
    public static final int ENUMERATED = 14;

    /** Number of unions, for each requested one, whose delegate kernels are computed exactly. */
    private static final int EXACT = 4;

    private static final int SWEEPS = 50;

    private static final int CPU = 0;
    private static final int DELEGATE = 1;

    private final List<Piece> pieces;
    private final Map<Integer, Long> operatorNanos = new HashMap<>();

    /** By piece, its side and the side of the previous piece. */
    private final Mean[][][] inPiece;

    /** By piece and its side. */
    private final Mean[][] after;

    private final Mean start = new Mean();

    private final long cpuBytes;

    /** By piece; the last element is for a delegate kernel, as in the next array. */
    private final double[] sizes;

    private final double[] bytes;
    private final List<Measured> measured = new ArrayList<>();

    /** A mean. */
    private static final class Mean {
        private double sum;
        private int count;

        void add(double value) {
            sum += value;
            count++;
        }

        double or(Mean other) {
            return count > 0 ? sum / count : other.value();
        }

        double value() {
            return sum / count;
        }
    }

    /** The measured memory of a union. */
    private record Measured(Set<Integer> union, int kernels, long bytes) {}

    /**
     * @param pieces of the graph
     * @param cpu node times of an inference with nothing delegated
     * @param all node times of an inference with everything delegated
     * @param cpuBytes memory with nothing delegated
     */
    public CostModel(List<Piece> pieces, List<NodeTime> cpu, List<NodeTime> all, long cpuBytes) {
        checkArgument(cpuBytes >= 0, "cpuBytes: %s", cpuBytes);
        this.pieces = pieces;
        this.cpuBytes = cpuBytes;
        inPiece = new Mean[pieces.size()][2][2];
        after = new Mean[pieces.size()][2];
        sizes = new double[pieces.size() + 1];
        for (int piece = 0; piece < pieces.size(); piece++) {
            for (int side : new int[] {CPU, DELEGATE}) {
                inPiece[piece][side][CPU] = new Mean();
                inPiece[piece][side][DELEGATE] = new Mean();
                after[piece][side] = new Mean();
            }
            sizes[piece] =
                    1.0 + pieces.get(piece).weightBytes() + pieces.get(piece).crossingBytes();
        }
        sizes[pieces.size()] = Arrays.stream(sizes).sum() / sizes.length / 2;
        bytes = new double[sizes.length];
        for (NodeTime node : cpu) {
            operatorNanos.put(node.operators().first(), node.nanos());
        }
        learn(Set.of(), cpu);
        learn(Set.copyOf(IntStream.range(0, pieces.size()).boxed().toList()), all);
    }

    /**
     * Adds the node times of a union.
     *
     * @param union indices of its pieces
     * @param nodes of one inference
     */
    public void learn(Set<Integer> union, List<NodeTime> nodes) {
        double[] inPieceNanos = new double[pieces.size()];
        double[] afterNanos = new double[pieces.size()];
        double startNanos = 0;
        for (NodeTime node : nodes) {
            double[] shares = shares(node.operators());
            double sum = Arrays.stream(shares).sum();
            if (sum > 0) {
                for (int piece = 0; piece < shares.length; piece++) {
                    inPieceNanos[piece] += node.nanos() * shares[piece] / sum;
                }
                continue;
            }
            int before = pieceBefore(node.operators().first());
            if (before >= 0) {
                afterNanos[before] += node.nanos();
            } else {
                startNanos += node.nanos();
            }
        }
        for (int piece = 0; piece < pieces.size(); piece++) {
            inPiece[piece][side(union, piece)][sideBefore(union, piece)].add(inPieceNanos[piece]);
            after[piece][side(union, piece)].add(afterNanos[piece]);
        }
        start.add(startNanos);
    }

    /** Returns the predicted time of a union of pieces. */
    public double nanos(Set<Integer> union) {
        double nanos = start.value();
        for (int piece = 0; piece < pieces.size(); piece++) {
            nanos += inPiece(piece, side(union, piece), sideBefore(union, piece));
            nanos += after[piece][side(union, piece)].value();
        }
        return nanos;
    }

    /** Returns the time of a piece on the CPU if nothing is delegated. */
    public double cpuNanos(int piece) {
        return inPiece(piece, CPU, CPU);
    }

    /** Returns the time of a piece in the delegate if everything is delegated. */
    public double delegateNanos(int piece) {
        return inPiece(piece, DELEGATE, DELEGATE);
    }

    private double inPiece(int piece, int side, int before) {
        return inPiece[piece][side][before].or(inPiece[piece][side][1 - before]);
    }

    private static int side(Set<Integer> union, int piece) {
        return union.contains(piece) ? DELEGATE : CPU;
    }

    /** The first piece counts as a continuation. */
    private static int sideBefore(Set<Integer> union, int piece) {
        return side(union, Math.max(0, piece - 1));
    }

    private double[] shares(Set<Integer> operators) {
        double[] shares = new double[pieces.size()];
        for (int piece = 0; piece < pieces.size(); piece++) {
            for (int operator : pieces.get(piece).operators()) {
                if (operators.contains(operator)) {
                    // Plus 1 ns, so that operators without measurable time on the CPU have a share,
                    // too.
                    shares[piece] += operatorNanos.getOrDefault(operator, 0L) + 1;
                }
            }
        }
        return shares;
    }

    /** Returns the last piece that starts before an operator; −1 if there is none. */
    private int pieceBefore(int operator) {
        int before = -1;
        for (int piece = 0; piece < pieces.size(); piece++) {
            if (pieces.get(piece).operators().first() < operator) {
                before = piece;
            }
        }
        return before;
    }

    /** Adds the memory of a union. */
    public void learn(Set<Integer> union, int kernels, long unionBytes) {
        if (union.isEmpty()) {
            return;
        }
        measured.add(new Measured(Set.copyOf(union), kernels, unionBytes));
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            measured.forEach(this::agree);
        }
    }

    private void agree(Measured m) {
        double missing = m.bytes - bytes(m.union, m.kernels);
        int last = sizes.length - 1;
        double norm = sizes[last] * m.kernels * m.kernels;
        norm += m.union.stream().mapToDouble(piece -> sizes[piece]).sum();
        for (int piece : m.union) {
            bytes[piece] += missing * sizes[piece] / norm;
        }
        bytes[last] += missing * sizes[last] * m.kernels / norm;
    }

    /** Returns the predicted memory of a union of pieces, at least 0. */
    public double bytes(Set<Integer> union, int kernels) {
        double ofPieces =
                IntStream.range(0, bytes.length - 1)
                        .filter(union::contains)
                        .mapToDouble(piece -> bytes[piece])
                        .sum();
        return Math.max(0, cpuBytes + ofPieces + kernels * bytes[bytes.length - 1]);
    }

    /**
     * Returns the best unions by their predicted cost, the best first.
     *
     * @param graph whose pieces this model predicts, at least one
     */
    public List<Union> best(PieceGraph graph, int count, Goal goal) {
        return best(graph, count, union -> cost(union, goal));
    }

    /** Returns the predicted cost of a union by a goal. */
    public double cost(Union union, Goal goal) {
        return goal.predicted(
                nanos(union.pieces()), bytes(union.pieces(), union.kernels()), union.kernels());
    }

    /**
     * Returns the best unions of a graph's pieces by predicted cost, the best first.
     *
     * @param graph with at least one piece
     */
    static List<Union> best(PieceGraph graph, int count, ToDoubleFunction<Union> cost) {
        Stream<Costed> looked =
                graph.pieces().size() <= ENUMERATED
                        ? Sets.powerSet(graph.indices()).stream()
                                .map(set -> costed(graph, set, cost))
                        : downhill(graph, cost);
        Comparator<Costed> cheapest = Comparator.comparingDouble(Costed::cost);
        // Computing the engine's delegate kernels takes time, so it is done only for the best
        // unions.
        Stream<Costed> exact =
                Ordering.from(cheapest).leastOf(looked.iterator(), EXACT * count).stream()
                        .map(Costed::union)
                        .map(union -> new Union(union.pieces(), graph.kernels(union.pieces())))
                        .map(union -> new Costed(union, cost.applyAsDouble(union)));
        return Ordering.from(cheapest).leastOf(exact.iterator(), count).stream()
                .map(Costed::union)
                .toList();
    }

    private static Costed costed(PieceGraph graph, Set<Integer> set, ToDoubleFunction<Union> cost) {
        Union union = new Union(set, kernelsOfChain(graph, set));
        return new Costed(union, cost.applyAsDouble(union));
    }

    /**
     * Returns the number of delegate kernels that a union would have if the operators were a chain.
     */
    private static int kernelsOfChain(PieceGraph graph, Set<Integer> union) {
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

    private static Stream<Costed> downhill(PieceGraph graph, ToDoubleFunction<Union> cost) {
        Set<Integer> pieces = graph.indices();
        List<Costed> looked = new ArrayList<>();
        for (Set<Integer> start : List.of(Set.<Integer>of(), pieces)) {
            Costed here = costed(graph, start, cost);
            looked.add(here);
            while (true) {
                Set<Integer> from = here.union().pieces();
                List<Costed> near =
                        pieces.stream()
                                .map(
                                        u ->
                                                costed(
                                                        graph,
                                                        Sets.symmetricDifference(from, Set.of(u)),
                                                        cost))
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

    /**
     * A union of pieces.
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
}
