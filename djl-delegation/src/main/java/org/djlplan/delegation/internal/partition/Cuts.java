package org.djlplan.delegation.internal.partition;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Operator;

/**
 * Cuts partitions into pieces where few bytes cross.
 *
 * <p>A cut lies between two operators of a piece, in execution order, and divides it into the
 * operators before and after it. Execution order follows the data, so nothing flows back, and
 * pieces of a convex partition are convex. The width of a cut is the size of the tensors that are
 * written before it and read after it.
 *
 * <ol>
 *   <li>The piece with most work is cut first.
 *   <li>Both sides of a cut must justify a separate delegate kernel.
 *   <li>Of the cuts that leave at least a quarter of the work on either side, the narrowest wins;
 *       if there are none, the narrowest of all. On a tie, the most even cut wins.
 *   <li>A piece without such a cut stays whole.
 * </ol>
 */
final class Cuts {

    /** FLOPs per byte: a core moves about half as many bytes as it computes useful FLOPs. */
    private static final long WORK_PER_BYTE = 2;

    /** Work of calling an operator at all: some tenths of a microsecond. */
    private static final long WORK_PER_CALL = 1_000;

    /** Minimum work of a piece, about a tenth of a millisecond in the CPU kernels. */
    static final long LEAST_WORK = 500_000;

    /** Denominator of the minimum fraction of the total work in a piece. */
    private static final int LEAST_SHARE = 16;

    /**
     * Operators of a partition that stay together.
     *
     * @param operators ascending
     * @param partition index among the partitions that the delegate reported
     */
    record Part(List<Integer> operators, int partition) {}

    /** A cut after {@code operators} operators of a piece. */
    private record Cut(int operators, long widthBytes, long lesserWork) {}

    private static final Comparator<Cut> NARROWEST =
            Comparator.comparingLong(Cut::widthBytes)
                    .thenComparing(Comparator.comparingLong(Cut::lesserWork).reversed())
                    .thenComparingInt(Cut::operators);

    private final Dataflow flow;
    private final long leastWork;

    private Cuts(Dataflow flow, List<Part> partitions) {
        this.flow = flow;
        long work = partitions.stream().mapToLong(this::work).sum();
        leastWork = Math.max(LEAST_WORK, work / LEAST_SHARE);
    }

    /** Returns at most {@code most} pieces, or the partitions if there are at least as many. */
    static List<Part> of(Dataflow flow, List<Part> partitions, int most) {
        return new Cuts(flow, partitions).pieces(partitions, most);
    }

    private List<Part> pieces(List<Part> partitions, int most) {
        List<Part> whole = new ArrayList<>();
        List<Part> open = new ArrayList<>(partitions);
        while (!open.isEmpty() && whole.size() + open.size() < most) {
            Part largest = open.stream().max(Comparator.comparingLong(this::work)).orElseThrow();
            open.remove(largest);
            Optional<Cut> cut = cut(largest);
            if (cut.isEmpty()) {
                whole.add(largest);
            } else {
                List<Integer> operators = largest.operators();
                int end = cut.get().operators();
                open.add(new Part(operators.subList(0, end), largest.partition()));
                open.add(new Part(operators.subList(end, operators.size()), largest.partition()));
            }
        }
        whole.addAll(open);
        whole.sort(
                Comparator.comparingInt(Part::partition)
                        .thenComparing(part -> part.operators().get(0)));
        return whole;
    }

    private Optional<Cut> cut(Part part) {
        List<Integer> operators = part.operators();
        long[] widths = widths(operators);
        long work = work(part);
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

    private long work(Part part) {
        return part.operators().stream().mapToLong(this::work).sum();
    }

    /**
     * Returns the work of an operator in one number: its FLOPs, plus the FLOPs that a core could do
     * in the time of its memory accesses; more than 0.
     */
    private long work(int index) {
        Operator operator = flow.graph().operators().get(index);
        long bytes = 0;
        for (List<Integer> ids : List.of(operator.inputs(), operator.outputs())) {
            for (int id : ids) {
                bytes += flow.bytes(id);
            }
        }
        return WORK_PER_CALL + Flops.of(flow.graph(), operator) + WORK_PER_BYTE * bytes;
    }
}
