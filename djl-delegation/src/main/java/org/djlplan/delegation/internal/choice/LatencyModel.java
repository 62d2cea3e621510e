package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * A model of latency: the time of each piece in the delegate and in the CPU kernels, and thus of
 * any union of pieces.
 *
 * <p>The time of a piece depends on its own side and on the side of the previous piece: whether the
 * input is in the right cache and layout, and whether a delegate kernel starts or continues.
 * Unsupported operators have a time that depends on the side of the previous piece.
 *
 * <pre>
 *   nanos(S) = start + Σ piece(u, u ∈ S, u−1 ∈ S) + after(u, u ∈ S)
 * </pre>
 *
 * The node times of two unions, nothing and everything delegated, give the terms for neighbours on
 * the same side, which are also used for the others. Two more unions, every other piece and the
 * rest, give all terms. The time of a delegate kernel that covers several pieces is divided in
 * proportion to their operators' times on the CPU.
 */
public final class LatencyModel {

    /**
     * The node times of one union.
     *
     * @param union indices of its pieces
     * @param nodes of one inference
     */
    public record Run(Set<Integer> union, List<NodeTime> nodes) {
        public Run {
            union = ImmutableSet.copyOf(union);
            nodes = List.copyOf(nodes);
        }
    }

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

    private static final int CPU = 0;
    private static final int DELEGATE = 1;

    private final List<Piece> pieces;
    private final Map<Integer, Long> operatorNanos = new HashMap<>();

    /** By piece, its side and the side of the previous piece. */
    private final Mean[][][] inPiece;

    /** By piece and its side. */
    private final Mean[][] after;

    private final Mean start = new Mean();

    /**
     * @param pieces of the graph
     * @param runs must include one that delegates nothing and one that delegates everything
     */
    public LatencyModel(List<Piece> pieces, List<Run> runs) {
        this.pieces = pieces;
        checkArgument(runs.stream().anyMatch(r -> r.union.isEmpty()), "no run on the CPU");
        checkArgument(
                runs.stream().anyMatch(r -> r.union.size() == pieces.size()),
                "no run of everything in the delegate");
        inPiece = new Mean[pieces.size()][2][2];
        after = new Mean[pieces.size()][2];
        for (int piece = 0; piece < pieces.size(); piece++) {
            for (int side : new int[] {CPU, DELEGATE}) {
                inPiece[piece][side][CPU] = new Mean();
                inPiece[piece][side][DELEGATE] = new Mean();
                after[piece][side] = new Mean();
            }
        }
        for (Run run : runs) {
            for (NodeTime node : run.nodes) {
                if (!node.delegated()) {
                    operatorNanos.putIfAbsent(node.operators().first(), node.nanos());
                }
            }
        }
        runs.forEach(this::learn);
    }

    private void learn(Run run) {
        double[] inPieceNanos = new double[pieces.size()];
        double[] afterNanos = new double[pieces.size()];
        double startNanos = 0;
        for (NodeTime node : run.nodes) {
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
            inPiece[piece][side(run.union, piece)][sideBefore(run.union, piece)].add(
                    inPieceNanos[piece]);
            after[piece][side(run.union, piece)].add(afterNanos[piece]);
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
}
