package org.djlplan.delegation.internal.partition;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkElementIndex;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * The pieces of a graph, and the delegate kernels that the engine makes of a union of them.
 *
 * <p>Constant operators belong to no piece, because they run in no inference: such an operator is
 * delegated if all readers of its output are. (XNNPACK computes wrong results if a constant
 * operator is delegated with only some of its readers.)
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
     * Returns the number of delegate kernels that run in an inference if some pieces are delegated.
     * Pieces that depend on each other only through the delegate are in one kernel.
     *
     * @throws IndexOutOfBoundsException if there is no such piece
     */
    public int kernels(Set<Integer> pieceIndices) {
        int kernels = 0;
        for (BitSet kernel : flow.kernels(operators(bits(pieceIndices)))) {
            // Otherwise it has only constant operators, and does not run.
            kernels += kernel.stream().allMatch(flow::isConstantOperator) ? 0 : 1;
        }
        return kernels;
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

    /**
     * A set of operators that is delegated completely or not at all: a partition, or a part of one.
     * It is convex: no path leaves it and returns.
     *
     * @param operators their indices in the graph, ascending, without constant operators
     * @param partition index among the partitions that the delegate reported
     * @param flops FLOPs of one inference, without operators of unknown shapes
     * @param weightBytes bytes of the constants that it reads, unpacked
     * @param crossingBytes bytes of the tensors that enter it plus those that leave it
     */
    public record Piece(
            SortedSet<Integer> operators,
            int partition,
            long flops,
            long weightBytes,
            long crossingBytes) {

        public Piece {
            operators = ImmutableSortedSet.copyOf(operators);
            checkArgument(!operators.isEmpty(), "a piece without operators");
            checkArgument(partition >= 0, "partition: %s", partition);
            checkArgument(flops >= 0, "flops: %s", flops);
            checkArgument(weightBytes >= 0, "weightBytes: %s", weightBytes);
            checkArgument(crossingBytes >= 0, "crossingBytes: %s", crossingBytes);
        }
    }

    /**
     * Cuts partitions into pieces where few bytes cross.
     *
     * <p>A cut lies between two operators of a piece, in execution order, and divides it into the
     * operators before and after it. Execution order follows the data, so nothing flows back, and
     * pieces of a convex partition are convex. The width of a cut is the size of the tensors that
     * are written before it and read after it.
     *
     * <ol>
     *   <li>The piece with the most work is cut first.
     *   <li>Both sides of a cut must justify a separate delegate kernel.
     *   <li>Of the cuts that leave at least a quarter of the work on either side, the narrowest
     *       wins; if there are none, the narrowest of all. On a tie, the most even cut wins.
     *   <li>A piece without such a cut stays whole.
     * </ol>
     */
    private static final class Cuts {

        /** FLOPs per byte: a core moves about half as many bytes as it computes useful FLOPs. */
        private static final long WORK_PER_BYTE = 2;

        /** Work of the call of an operator: a few tenths of a microsecond. */
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

        /**
         * Returns at most {@code most} pieces, or the partitions if there are at least that many.
         */
        static List<Part> of(Dataflow flow, List<Part> partitions, int most) {
            return new Cuts(flow, partitions).pieces(partitions, most);
        }

        private List<Part> pieces(List<Part> partitions, int most) {
            List<Part> whole = new ArrayList<>();
            List<Part> open = new ArrayList<>(partitions);
            while (!open.isEmpty() && whole.size() + open.size() < most) {
                Part largest =
                        open.stream().max(Comparator.comparingLong(this::work)).orElseThrow();
                open.remove(largest);
                Optional<Cut> cut = cut(largest);
                if (cut.isEmpty()) {
                    whole.add(largest);
                } else {
                    List<Integer> operators = largest.operators();
                    int end = cut.get().operators();
                    open.add(new Part(operators.subList(0, end), largest.partition()));
                    open.add(
                            new Part(
                                    operators.subList(end, operators.size()), largest.partition()));
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

        /** Returns the width in bytes of the cut after the first n operators, by n. */
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
         * Returns the work of an operator in one number: its FLOPs, plus the FLOPs that a core
         * could do in the time of its memory accesses; more than 0.
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

    /**
     * Counts floating-point operations of TensorFlow Lite's operators, from the shapes of their
     * tensors; a multiplication with its addition counts as two. Quantized operators count like
     * floating-point ones.
     *
     * <p>A graph has no strides or window sizes. Convolutions need none, because the shapes of the
     * output and the filter are sufficient. For pools the input's elements are counted, as if the
     * windows did not overlap.
     */
    static final class Flops {

        /** More than any operator has; keeps sums for invalid shapes within a long. */
        private static final long MOST = 1L << 50;

        private Flops() {}

        /**
         * Returns the operations of one run of an operator, or 0 if a required shape is unknown or
         * invalid for the operator.
         */
        public static long of(Graph graph, Operator operator) {
            if (operator.outputs().isEmpty()) {
                return 0;
            }
            long outputs = elements(output(graph, operator));
            return switch (operator.type()) {
                case "CONV_2D", "FULLY_CONNECTED" ->
                        sums(
                                outputs,
                                elements(input(graph, operator, 1)),
                                channels(graph, operator));
                case "DEPTHWISE_CONV_2D" -> sums(outputs, taps(graph, operator), 1);
                case "TRANSPOSE_CONV" -> transposed(graph, operator);
                case "BATCH_MATMUL" -> sums(outputs, inner(graph, operator), 1);
                case "AVERAGE_POOL_2D",
                        "MAX_POOL_2D",
                        "L2_POOL_2D",
                        "MEAN",
                        "SUM",
                        "REDUCE_MAX",
                        "REDUCE_MIN",
                        "REDUCE_PROD" ->
                        Math.max(elements(input(graph, operator, 0)), outputs);
                case "RESHAPE", "SQUEEZE", "EXPAND_DIMS" -> 0;
                default -> Math.min(outputs, MOST);
            };
        }

        /**
         * Returns how many positions of the input contribute to one output element of a channel:
         * height times width of the filter; 1 for operators without such a filter.
         */
        public static long taps(Graph graph, Operator operator) {
            int place =
                    switch (operator.type()) {
                        case "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV" -> 1;
                        default -> -1;
                    };
            List<Integer> filter = place < 0 ? List.of() : input(graph, operator, place);
            return filter.size() == 4 && elements(filter) > 0
                    ? Math.min((long) filter.get(1) * filter.get(2), MOST)
                    : 1;
        }

        /** Returns the FLOPs of results that are sums of {@code terms / groups} products each. */
        private static long sums(long results, long terms, long groups) {
            return groups == 0
                    ? 0
                    : Math.min(
                            LongMath.saturatedMultiply(results, 2 * Math.min(terms / groups, MOST)),
                            MOST);
        }

        /** A filter has one row per output channel; each output element uses one row. */
        private static long channels(Graph graph, Operator operator) {
            List<Integer> filter = input(graph, operator, 1);
            return filter.isEmpty() ? 0 : Math.max(filter.get(0), 0);
        }

        /**
         * Each element of the input (third operand, after the output's shape) is multiplied with
         * one slice of the filter.
         */
        private static long transposed(Graph graph, Operator operator) {
            List<Integer> filter = input(graph, operator, 1);
            long channels = filter.isEmpty() ? 0 : Math.max(filter.get(filter.size() - 1), 0);
            return sums(elements(input(graph, operator, 2)), elements(filter), channels);
        }

        /**
         * Returns the length of the summed products, whether or not the first operand is
         * transposed.
         */
        private static long inner(Graph graph, Operator operator) {
            List<Integer> left = input(graph, operator, 0);
            List<Integer> product = output(graph, operator);
            if (left.size() < 2 || product.size() < 2 || elements(left) == 0) {
                return 0;
            }
            int rows = product.get(product.size() - 2);
            boolean transposed = left.get(left.size() - 2) != rows;
            return left.get(left.size() - (transposed ? 2 : 1));
        }

        private static List<Integer> input(Graph graph, Operator operator, int place) {
            return operator.inputs().size() <= place
                    ? List.of(0)
                    : graph.tensors().get(operator.inputs().get(place)).shape();
        }

        private static List<Integer> output(Graph graph, Operator operator) {
            return graph.tensors().get(operator.outputs().get(0)).shape();
        }

        /** Returns 0 if a dimension is unknown. */
        private static long elements(List<Integer> shape) {
            long elements = 1;
            for (int dimension : shape) {
                elements = LongMath.saturatedMultiply(elements, Math.max(dimension, 0));
            }
            return elements;
        }
    }
}
