package org.djlplan.integration.networks;

import static org.djlplan.memplan.graph.ElementType.FLOAT32;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.testing.TightGraph;

/**
 * {@link TightGraph} as a network, which is hard to plan: there is a plan without gaps, about as
 * large as its rectangle is high; none of 3,000 random orders in which to place the tensors one
 * after another comes within 10 % of it.
 *
 * <p>Each piece is made from the input, and summed up where it ends.
 */
public final class TightPacking {

    private static final int[] ONE = {1, 1};

    private final ModelSketch main = new ModelSketch();
    private final Random random;
    private final int input;
    private final int[] tensors = new int[TightGraph.PIECES.size()];
    private final boolean inPlace;
    private int total = -1;

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
        TightGraph.replay(
                i -> tensors[i] = piece(TightGraph.PIECES.get(i).elements()),
                i -> sumUp(tensors[i]));
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
