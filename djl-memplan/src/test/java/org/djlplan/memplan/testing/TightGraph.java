package org.djlplan.memplan.testing;

import java.util.List;
import java.util.function.IntConsumer;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A graph for which the greedy strategies do not find the smallest plan. Its large tensors are the
 * pieces of a randomly cut rectangle, whose width is a number of operators and whose height is a
 * number of bytes.
 */
public final class TightGraph {

    private static final int BYTES_PER_UNIT = 4096;

    /** Height of the rectangle in bytes. */
    public static final long PIECES_BYTES = 120 * BYTES_PER_UNIT;

    /** Size of the smallest arena, at the lower bound; two small tensors lie beside the pieces. */
    public static final long MINIMAL_BYTES = PIECES_BYTES + 128;

    /** For each piece: {@code from}, {@code until}, and the height in units. */
    private static final String TRIPLES =
            "0 3 15, 0 5 18, 0 15 2, 0 24 2, 0 10 7, 0 3 30, 0 24 7, "
                    + "0 19 3, 0 19 5, 0 24 2, 0 24 1, 0 6 19, 0 13 4, 0 22 2, "
                    + "0 24 1, 0 24 2, 3 11 14, 3 20 1, 3 6 30, 5 7 14, 5 15 4, "
                    + "6 8 30, 6 13 19, 7 15 14, 8 10 30, 10 24 4, 10 15 19, "
                    + "10 24 5, 10 24 9, 11 20 14, 13 18 23, 15 24 11, 15 24 9, "
                    + "15 19 19, 18 24 7, 18 24 16, 19 24 19, 19 24 8, 20 24 15, "
                    + "22 24 2";

    /** The time at which nothing is left. */
    public static final int END = 24;

    /** The large tensors. */
    public static final ImmutableList<Piece> PIECES =
            Splitter.on(", ")
                    .splitToStream(TRIPLES)
                    .map(Piece::parse)
                    .collect(ImmutableList.toImmutableList());

    /**
     * One of the large tensors.
     *
     * @param from time at which the tensor is written
     * @param until time of the tensor's last read, after which other tensors are written
     * @param elements how many floats it has
     */
    public record Piece(int from, int until, int elements) {

        private static Piece parse(String triple) {
            List<String> numbers = Splitter.on(' ').splitToList(triple);
            return new Piece(
                    Integer.parseInt(numbers.get(0)),
                    Integer.parseInt(numbers.get(1)),
                    Integer.parseInt(numbers.get(2)) * BYTES_PER_UNIT / Float.BYTES);
        }
    }

    private TightGraph() {}

    /**
     * Calls the actions with the index of each piece when it begins and when it ends, in order of
     * time.
     */
    public static void replay(IntConsumer begin, IntConsumer end) {
        for (int time = 0; time <= END; time++) {
            for (int i = 0; i < PIECES.size(); i++) {
                if (PIECES.get(i).until() == time) {
                    end.accept(i);
                }
            }
            for (int i = 0; i < PIECES.size(); i++) {
                if (PIECES.get(i).from() == time) {
                    begin.accept(i);
                }
            }
        }
    }

    /**
     * Returns the graph.
     *
     * @param inPlace whether an operator that may overwrite it follows each piece; then the pieces
     *     fit together only if tensors share places
     */
    public static Graph of(boolean inPlace) {
        return new Maker(inPlace).make();
    }

    private static final class Maker {

        private final GraphSketch sketch = new GraphSketch();
        private final int input = sketch.input(1);
        private final int[] tensors = new int[PIECES.size()];
        private final boolean inPlace;
        private int total = -1;

        Maker(boolean inPlace) {
            this.inPlace = inPlace;
        }

        Graph make() {
            replay(this::begin, this::end);
            return sketch.output(total).build();
        }

        private void begin(int piece) {
            int elements = PIECES.get(piece).elements();
            tensors[piece] = sketch.tensor(elements);
            sketch.operator("CONV_2D", tensors[piece], input);
            if (inPlace) {
                int over = sketch.tensor(elements);
                sketch.operator("ABS", over, tensors[piece]);
                tensors[piece] = over;
            }
        }

        private void end(int piece) {
            int sum = sketch.tensor(1);
            sketch.operator("SUM", sum, tensors[piece]);
            if (total >= 0) {
                int added = sketch.tensor(1);
                sketch.operator("CONCATENATION", added, total, sum);
                sum = added;
            }
            total = sum;
        }
    }
}
