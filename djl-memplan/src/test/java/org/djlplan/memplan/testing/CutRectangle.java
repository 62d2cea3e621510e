package org.djlplan.memplan.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * Planning problems with a known optimum. A rectangle of operators × bytes is cut into pieces,
 * which become tensors without offsets. All pieces that contain one chosen operator are kept, so
 * the rectangle's height is the lower bound, and the cut itself is a plan that reaches this bound.
 *
 * @param operators width of the rectangle
 * @param bytes height of the rectangle
 * @param pieces number of pieces that the rectangle is cut into
 * @param sizeStep divisor of all sizes; the larger it is, the more tensors have equal sizes
 * @param dropped share of the pieces without the chosen operator that is left out
 * @param longLived number of strips of the full width that are cut off first, at the bottom
 */
public record CutRectangle(
        int operators, int bytes, int pieces, int sizeStep, double dropped, int longLived) {

    private record Piece(int left, int right, int bottom, int top) {
        private boolean holds(int operator) {
            return left <= operator && operator < right;
        }

        private long area() {
            return (right - left) * (long) (top - bottom);
        }
    }

    /** Returns the records of a cut. */
    public List<UsageRecord> records(long seed) {
        Random random = new Random(seed);
        List<Piece> cut = new ArrayList<>();
        int floor = 0;
        for (int i = 0; i < longLived; i++) {
            int top = floor + sizeStep * (1 + random.nextInt(2));
            cut.add(new Piece(0, operators, floor, top));
            floor = top;
        }
        List<Piece> whole = new ArrayList<>(List.of(new Piece(0, operators, floor, bytes)));
        for (int tries = 0; tries < 100 * pieces && whole.size() < pieces; tries++) {
            cutOne(whole, random);
        }
        cut.addAll(whole);
        int kept = random.nextInt(operators);
        List<UsageRecord> records = new ArrayList<>();
        for (Piece piece : cut) {
            if (piece.holds(kept) || random.nextDouble() >= dropped) {
                records.add(
                        new UsageRecord(
                                records.size(),
                                piece.left,
                                piece.right - 1,
                                piece.top - piece.bottom));
            }
        }
        return records;
    }

    /** Cuts a random piece in time or in memory; large pieces are cut more often. */
    private void cutOne(List<Piece> pieces, Random random) {
        long area = pieces.stream().mapToLong(Piece::area).sum();
        long at = (long) (random.nextDouble() * area);
        int index = 0;
        while (at >= pieces.get(index).area()) {
            at -= pieces.get(index++).area();
        }
        Piece piece = pieces.get(index);
        int width = piece.right - piece.left;
        int steps = (piece.top - piece.bottom) / sizeStep;
        if (random.nextBoolean() && width > 1) {
            int middle = piece.left + 1 + random.nextInt(width - 1);
            pieces.set(index, new Piece(piece.left, middle, piece.bottom, piece.top));
            pieces.add(new Piece(middle, piece.right, piece.bottom, piece.top));
        } else if (steps > 1) {
            int middle = piece.bottom + sizeStep * (1 + random.nextInt(steps - 1));
            pieces.set(index, new Piece(piece.left, piece.right, piece.bottom, middle));
            pieces.add(new Piece(piece.left, piece.right, middle, piece.top));
        }
    }
}
