package org.djlplan.integration.networks;

import static org.djlplan.integration.networks.ModelSketch.F32;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.networks.ModelSketch.SubgraphSketch;
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
    public static final long PIECES_BYTES = 60 * 4096;

    private static final int ELEMENTS_PER_UNIT = 1024;
    private static final int[] ONE = {1, 1};

    /** From which time until before which other, and height in units. */
    private static final int[][] PIECES = {
        {0, 2, 17},
        {0, 3, 17},
        {0, 3, 1},
        {0, 2, 24},
        {0, 16, 1},
        {2, 5, 17},
        {2, 7, 6},
        {2, 7, 4},
        {2, 7, 14},
        {3, 11, 9},
        {3, 13, 4},
        {3, 13, 4},
        {3, 13, 1},
        {5, 13, 8},
        {5, 16, 3},
        {5, 16, 6},
        {7, 16, 6},
        {7, 14, 11},
        {7, 14, 7},
        {11, 13, 9},
        {13, 16, 8},
        {13, 16, 12},
        {13, 16, 6},
        {14, 16, 18},
    };

    private static final int END = 16;

    private final ModelSketch model = new ModelSketch();
    private final SubgraphSketch main = model.graph("main");
    private final Random random;
    private final int input;
    private final int[] tensors = new int[PIECES.length];
    private final boolean inPlace;
    private int total = -1;

    private TightPacking(long seed, boolean inPlace) {
        random = new Random(seed);
        this.inPlace = inPlace;
        input = main.input(F32, ONE);
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
        return model.build();
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
        int sum = main.tensor(F32, ONE);
        main.operator(
                "SUM",
                Optional.of(FlatTable.of("ReducerOptions").with("keep_dims", true)),
                List.of(sum),
                tensor,
                main.ints(new int[] {1}, 1));
        total = total < 0 ? sum : binary("ADD", ONE, total, sum);
    }

    private int binary(String type, int[] shape, int one, int other) {
        int output = main.tensor(F32, shape);
        String options = type.equals("ADD") ? "AddOptions" : "MulOptions";
        main.operator(type, Optional.of(FlatTable.of(options)), List.of(output), one, other);
        return output;
    }
}
