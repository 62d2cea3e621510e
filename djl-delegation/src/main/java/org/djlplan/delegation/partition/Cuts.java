package org.djlplan.delegation.partition;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Cuts partitions into pieces where few bytes cross.
 *
 * <p>A cut lies between two operators of a piece, in execution order; everything before it is one
 * piece then, everything after it the other. As execution order follows the data, nothing flows
 * back: pieces of a convex partition are convex. The width of a cut is the bytes of the tensors
 * that are written before it and read after it.
 *
 * <ol>
 *   <li>The piece with most work is cut first.
 *   <li>Both sides of a cut must be worth a delegate kernel of their own.
 *   <li>The narrowest cut wins of those that leave at least a quarter of the work on either side;
 *       if there are none, of all. Of cuts that are as narrow, the most even one.
 *   <li>A piece without such a cut stays whole.
 * </ol>
 */
final class Cuts {

    /** Least work of a piece, about a tenth of a millisecond on the CPU kernels. */
    static final long LEAST_WORK = 500_000;

    /** A piece has at least this part of the work of all partitions. */
    private static final int LEAST_SHARE = 16;

    /**
     * Operators that stay together.
     *
     * @param operators ascending
     * @param partition the partition's place among those that the delegate reported
     */
    record Piece(List<Integer> operators, int partition) {}

    /** A cut after {@code operators} operators of a piece. */
    private record Cut(int operators, long widthBytes, long lesserWork) {}

    private static final Comparator<Cut> NARROWEST =
            Comparator.comparingLong(Cut::widthBytes)
                    .thenComparing(Comparator.comparingLong(Cut::lesserWork).reversed())
                    .thenComparingInt(Cut::operators);

    private final Dataflow flow;
    private final long leastWork;

    private Cuts(Dataflow flow, List<Piece> partitions) {
        this.flow = flow;
        long work = partitions.stream().mapToLong(this::work).sum();
        leastWork = Math.max(LEAST_WORK, work / LEAST_SHARE);
    }

    /** Returns at most {@code most} pieces, or the partitions if these are as many or more. */
    static List<Piece> of(Dataflow flow, List<Piece> partitions, int most) {
        return new Cuts(flow, partitions).pieces(partitions, most);
    }

    private List<Piece> pieces(List<Piece> partitions, int most) {
        List<Piece> whole = new ArrayList<>();
        List<Piece> open = new ArrayList<>(partitions);
        while (!open.isEmpty() && whole.size() + open.size() < most) {
            Piece largest = open.stream().max(Comparator.comparingLong(this::work)).orElseThrow();
            open.remove(largest);
            Optional<Cut> cut = cut(largest);
            if (cut.isEmpty()) {
                whole.add(largest);
            } else {
                List<Integer> operators = largest.operators();
                int end = cut.get().operators();
                open.add(new Piece(operators.subList(0, end), largest.partition()));
                open.add(new Piece(operators.subList(end, operators.size()), largest.partition()));
            }
        }
        whole.addAll(open);
        whole.sort(
                Comparator.comparingInt(Piece::partition)
                        .thenComparing(piece -> piece.operators().get(0)));
        return whole;
    }

    private Optional<Cut> cut(Piece piece) {
        List<Integer> operators = piece.operators();
        long[] widths = widths(operators);
        long work = work(piece);
        long before = 0;
        List<Cut> cuts = new ArrayList<>();
        for (int i = 1; i < operators.size(); i++) {
            before += work(operators.get(i - 1));
            long lesser = Math.min(before, work - before);
            if (lesser >= leastWork) {
                cuts.add(new Cut(i, widths[i], lesser));
            }
        }
        return cuts.stream()
                .filter(cut -> cut.lesserWork() >= work / 4)
                .min(NARROWEST)
                .or(() -> cuts.stream().min(NARROWEST));
    }

    /** Returns the width of the cut after each number of operators. */
    private long[] widths(List<Integer> operators) {
        long[] changes = new long[operators.size() + 1];
        for (int i = 0; i < operators.size(); i++) {
            for (int id : flow.writes(operators.get(i))) {
                int last = i;
                for (int reader : flow.readers(id)) {
                    last = Math.max(last, operators.indexOf(reader));
                }
                changes[i + 1] += flow.bytes(id);
                changes[last + 1] -= flow.bytes(id);
            }
        }
        for (int i = 1; i < changes.length; i++) {
            changes[i] += changes[i - 1];
        }
        return changes;
    }

    private long work(Piece piece) {
        return piece.operators().stream().mapToLong(this::work).sum();
    }

    private long work(int operator) {
        return Work.of(flow.graph(), flow.graph().operators().get(operator));
    }
}
