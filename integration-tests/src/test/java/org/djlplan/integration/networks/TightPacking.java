package org.djlplan.integration.networks;

import static org.djlplan.memplan.graph.ElementType.FLOAT32;

import com.google.common.base.Splitter;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.djlplan.memplan.source.tflite.TfLiteFile;

/**
 * A network that is hard to plan: its large tensors are the pieces of a rectangle that was cut at
 * random, with times as its width and bytes as its height. So there is a plan without gaps, about
 * as large as the rectangle is high; none of 3,000 random orders in which to place the tensors one
 * after another comes within 10 % of it.
 *
 * <p>Each piece is made from the input, and summed up where it ends.
 */
public final class TightPacking {

    /** Height of the rectangle in bytes; besides the pieces only small tensors are alive. */
    public static final long PIECES_BYTES = 120 * 4096;

    private static final int ELEMENTS_PER_UNIT = 1024;
    private static final int[] ONE = {1, 1};

    /** From which time until before which other, and height in units. */
    private static final String TRIPLES =
            "0 3 15, 0 5 18, 0 15 2, 0 24 2, 0 10 7, 0 3 30, 0 24 7, "
                    + "0 19 3, 0 19 5, 0 24 2, 0 24 1, 0 6 19, 0 13 4, 0 22 2, "
                    + "0 24 1, 0 24 2, 3 11 14, 3 20 1, 3 6 30, 5 7 14, 5 15 4, "
                    + "6 8 30, 6 13 19, 7 15 14, 8 10 30, 10 24 4, 10 15 19, "
                    + "10 24 5, 10 24 9, 11 20 14, 13 18 23, 15 24 11, 15 24 9, "
                    + "15 19 19, 18 24 7, 18 24 16, 19 24 19, 19 24 8, 20 24 15, "
                    + "22 24 2";

    private static final int[][] PIECES =
            Splitter.on(", ")
                    .splitToStream(TRIPLES)
                    .map(Splitter.on(' ')::splitToStream)
                    .map(numbers -> numbers.mapToInt(Integer::parseInt).toArray())
                    .toArray(int[][]::new);

    /** The time at which nothing is left. */
    public static final int END = 24;

    private final ModelSketch main = new ModelSketch();
    private final Random random;
    private final int input;
    private final int[] tensors = new int[PIECES.length];
    private final boolean inPlace;
    private int total = -1;

    /** From which time until before which other, and number of elements, of each large tensor. */
    public static int[][] pieces() {
        return Arrays.stream(PIECES)
                .map(piece -> new int[] {piece[0], piece[1], piece[2] * ELEMENTS_PER_UNIT})
                .toArray(int[][]::new);
    }

    private TightPacking(long seed, boolean inPlace) {
        random = new Random(seed);
        this.inPlace = inPlace;
        input = main.input(FLOAT32, ONE);
    }

    /**
     * Returns the network; it gives the sum of everything, one number.
     *
     * @param inPlace whether each piece is followed by an operator that may write over it; without
     *     sharing places the pieces then do not fit together any more
     */
    public static TfLiteFile build(long seed, boolean inPlace) {
        return new TightPacking(seed, inPlace).build();
    }

    private TfLiteFile build() {
        for (int time = 0; time <= END; time++) {
            for (int i = 0; i < PIECES.length; i++) {
                if (PIECES[i][1] == time) {
                    sumUp(tensors[i]);
                }
            }
            for (int i = 0; i < PIECES.length; i++) {
                if (PIECES[i][0] == time) {
                    tensors[i] = piece(PIECES[i][2] * ELEMENTS_PER_UNIT);
                }
            }
        }
        main.output(total);
        return main.build();
    }

    private int piece(int elements) {
        int[] shape = {1, elements};
        float[] factors = new float[elements];
        for (int i = 0; i < elements; i++) {
            factors[i] = random.nextFloat() - 0.5f;
        }
        int piece = binary("MUL", shape, input, main.floats(shape, factors));
        return inPlace ? main.floatOperator("ABS", shape, piece) : piece;
    }

    private void sumUp(int tensor) {
        int sum = main.tensor(FLOAT32, ONE);
        main.operator(
                "SUM",
                Optional.of(FlatTable.of("ReducerOptions").with("keep_dims", true)),
                List.of(sum),
                tensor,
                main.ints(1));
        total = total < 0 ? sum : binary("ADD", ONE, total, sum);
    }

    private int binary(String type, int[] shape, int one, int other) {
        int output = main.tensor(FLOAT32, shape);
        String options = type.equals("ADD") ? "AddOptions" : "MulOptions";
        main.operator(type, Optional.of(FlatTable.of(options)), List.of(output), one, other);
        return output;
    }
}
