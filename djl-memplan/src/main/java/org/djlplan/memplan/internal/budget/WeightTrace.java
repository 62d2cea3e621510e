package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * The pieces of a model's weights that a recorded prediction used, by step. A step begins with an
 * allocation of the engine and lasts until the next one; the first step begins with the prediction.
 *
 * @param pieces positions of the pieces
 * @param stepBytes bytes of the allocation with which each step begins; 0 for the first
 * @param stepNanos duration of each step, including the time to fetch weights
 * @param uses the steps in which pieces are used, in order of their first steps, then of the
 *     pieces; uses of one piece do not overlap
 * @param lookups the steps that read only a few rows of a large weight, by first step
 */
public record WeightTrace(
        List<Piece> pieces,
        ImmutableLongArray stepBytes,
        ImmutableLongArray stepNanos,
        List<WeightUse> uses,
        List<Lookup> lookups) {

    /** A piece that is used again within this number of steps stays in memory. */
    private static final int SHORT_GAP = 16;

    /** Weights with fewer pieces are always loaded as a whole, because little can be saved. */
    private static final int LEAST_PIECES_OF_LOOKUP = 4;

    /** Denominator: a step looks up a weight if it uses less than this fraction of its pieces. */
    private static final int LOOKUP_PARTS = 3;

    /** Number of bytes that the system maps at once if it does not map a whole piece. */
    private static final long MAPPED_AT_ONCE_BYTES = 64 << 10;

    /** Minimum length of looked-up rows: 256 numbers of 32 bits. */
    private static final long LEAST_ROW_BYTES = 1 << 10;

    /**
     * A run of whole pages.
     *
     * @param offsetBytes its offset in the file of the weights
     * @param bytes its size
     */
    public record Piece(long offsetBytes, long bytes) {

        public Piece {
            checkArgument(
                    offsetBytes >= 0
                            && bytes > 0
                            && offsetBytes % WeightUse.PAGE_BYTES == 0
                            && bytes % WeightUse.PAGE_BYTES == 0,
                    "a piece of %s bytes at %s",
                    bytes,
                    offsetBytes);
        }
    }

    public WeightTrace {
        pieces = ImmutableList.copyOf(pieces);
        uses = ImmutableList.copyOf(uses);
        lookups = ImmutableList.copyOf(lookups);
        checkArgument(!stepBytes.isEmpty(), "no steps");
        checkArgument(stepNanos.length() == stepBytes.length(), "steps without a time");
        checkArgument(stepNanos.stream().allMatch(nanos -> nanos >= 0), "negative times");
        int[] usedUntil = new int[pieces.size()];
        Arrays.fill(usedUntil, -1);
        int now = 0;
        for (WeightUse use : uses) {
            checkArgument(use.piece() < pieces.size(), "%s of no piece", use);
            checkArgument(
                    use.bytes() == pieces.get(use.piece()).bytes(), "%s of another size", use);
            checkArgument(use.first() >= now, "%s is not in order", use);
            checkArgument(use.last() < stepBytes.length(), "%s has no such step", use);
            checkArgument(use.first() > usedUntil[use.piece()], "%s overlaps another", use);
            now = use.first();
            usedUntil[use.piece()] = use.last();
        }
        for (Lookup lookup : lookups) {
            checkArgument(
                    lookup.pieces().last() < pieces.size()
                            && lookup.last() < stepBytes.length()
                            && lookup.bytes() <= bytes(pieces, lookup.pieces()),
                    "%s in no weight",
                    lookup);
        }
    }

    /**
     * Consecutive pieces that lie completely in one weight.
     *
     * @param first number of the first one
     * @param last number of the last one, inclusive
     */
    public record Range(int first, int last) {

        public Range {
            checkArgument(first >= 0 && last >= first, "pieces from %s to %s", first, last);
        }

        /** Returns whether a piece is in the range. */
        public boolean contains(int piece) {
            return first <= piece && piece <= last;
        }

        private int size() {
            return last - first + 1;
        }
    }

    /**
     * Rows of a weight that are read by index, such as those of an embedding. The rows depend on
     * the inputs, so they are read on access, and dropped afterwards.
     *
     * @param pieces that contain the rows
     * @param first first step that reads them
     * @param last last step that reads them, inclusive
     * @param bytes largest number of bytes read into memory
     */
    public record Lookup(Range pieces, int first, int last, long bytes) {

        public Lookup {
            checkArgument(first >= 0 && last >= first, "rows from %s to %s", first, last);
            checkArgument(bytes > 0, "rows of %s bytes", bytes);
        }
    }

    /**
     * A piece that a recorded step used.
     *
     * @param step number of the step
     * @param piece number of the piece
     * @param bytes of the piece that were read into memory
     */
    public record Touch(int step, int piece, long bytes) {}

    /**
     * Creates a trace from recorded touches.
     *
     * @param touches in the order of the steps
     * @param weights the pieces of each large weight
     */
    public static WeightTrace of(
            List<Piece> pieces,
            ImmutableLongArray stepBytes,
            ImmutableLongArray stepNanos,
            List<Touch> touches,
            List<Range> weights) {
        List<Lookup> lookups = new ArrayList<>();
        for (Range weight : weights) {
            if (weight.size() >= LEAST_PIECES_OF_LOOKUP) {
                lookups.addAll(lookups(pieces, stepBytes, touches, weight));
            }
        }
        lookups.sort(Comparator.comparingInt(Lookup::first));
        List<WeightUse> uses =
                uses(pieces, touches.stream().filter(touch -> !isPart(touch, lookups)).toList());
        return new WeightTrace(pieces, stepBytes, stepNanos, uses, lookups);
    }

    private static boolean isPart(Touch touch, List<Lookup> lookups) {
        return lookups.stream()
                .anyMatch(
                        lookup ->
                                lookup.pieces().contains(touch.piece())
                                        && lookup.first() <= touch.step()
                                        && touch.step() <= lookup.last());
    }

    /** Returns the steps that read only a small part of the pieces of a weight. */
    private static List<Lookup> lookups(
            List<Piece> pieces, ImmutableLongArray stepBytes, List<Touch> touches, Range weight) {
        Map<Integer, List<Touch>> bySteps =
                touches.stream()
                        .filter(touch -> weight.contains(touch.piece()))
                        .collect(Collectors.groupingBy(Touch::step));
        List<Lookup> lookups = new ArrayList<>();
        bySteps.forEach(
                (step, touched) -> {
                    long seen = touched.stream().mapToLong(Touch::bytes).sum();
                    long whole =
                            touched.stream()
                                    .mapToLong(touch -> pieces.get(touch.piece()).bytes())
                                    .sum();
                    if (seen <= whole / LOOKUP_PARTS) {
                        // Where these inputs used one row twice, other inputs may use two rows.
                        long rows = stepBytes.get(step) / LEAST_ROW_BYTES;
                        long most = Math.max(seen, rows * MAPPED_AT_ONCE_BYTES);
                        long bytes = Math.min(most, bytes(pieces, weight));
                        lookups.add(new Lookup(weight, step, step, bytes));
                    }
                });
        return lookups;
    }

    private static long bytes(List<Piece> pieces, Range range) {
        return pieces.subList(range.first(), range.last() + 1).stream()
                .mapToLong(Piece::bytes)
                .sum();
    }

    private static List<WeightUse> uses(List<Piece> pieces, List<Touch> touches) {
        WeightUse[] open = new WeightUse[pieces.size()];
        ImmutableList.Builder<WeightUse> uses = ImmutableList.builder();
        for (Touch touch : touches) {
            int piece = touch.piece();
            WeightUse before = open[piece];
            boolean goesOn = before != null && touch.step() - before.last() <= SHORT_GAP;
            if (before != null && !goesOn) {
                uses.add(before);
            }
            int first = goesOn ? before.first() : touch.step();
            open[piece] = new WeightUse(piece, first, touch.step(), pieces.get(piece).bytes());
        }
        for (WeightUse use : open) {
            if (use != null) {
                uses.add(use);
            }
        }
        return ImmutableList.sortedCopyOf(
                Comparator.comparingInt(WeightUse::first).thenComparingInt(WeightUse::piece),
                uses.build());
    }

    /** Returns the number of steps. */
    public int steps() {
        return stepBytes.length();
    }
}
