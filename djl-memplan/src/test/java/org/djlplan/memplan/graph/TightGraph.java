package org.djlplan.memplan.graph;

import com.google.common.base.Splitter;
import org.djlplan.memplan.testing.GraphSketch;

/**
 * A graph that the greedy strategies do not plan as small as can be: its large tensors are the
 * pieces of a rectangle that was cut at random, with operators as its width and bytes as its
 * height.
 */
public final class TightGraph {

    /** Size of the smallest arena, at the lower bound; two small tensors lie beside the pieces. */
    public static final long MINIMAL_BYTES = 120 * 4096 + 128;

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

    private static final int END = 24;
    private static final int ELEMENTS_PER_UNIT = 1024;

    private TightGraph() {}

    /**
     * Returns the graph.
     *
     * @param inPlace whether each piece is followed by an operator that may write over it; without
     *     sharing places the pieces then do not fit together any more
     */
    public static Graph of(boolean inPlace) {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(1);
        int[] tensors = new int[PIECES.length];
        int total = -1;
        for (int time = 0; time <= END; time++) {
            for (int i = 0; i < tensors.length; i++) {
                if (PIECES[i][1] == time) {
                    int sum = sketch.tensor(1);
                    sketch.operator("SUM", sum, tensors[i]);
                    if (total >= 0) {
                        int added = sketch.tensor(1);
                        sketch.operator("CONCATENATION", added, total, sum);
                        sum = added;
                    }
                    total = sum;
                }
            }
            for (int i = 0; i < tensors.length; i++) {
                if (PIECES[i][0] == time) {
                    int elements = PIECES[i][2] * ELEMENTS_PER_UNIT;
                    tensors[i] = sketch.tensor(elements);
                    sketch.operator("CONV_2D", tensors[i], input);
                    if (inPlace) {
                        int over = sketch.tensor(elements);
                        sketch.operator("ABS", over, tensors[i]);
                        tensors[i] = over;
                    }
                }
            }
        }
        return sketch.output(total).build();
    }
}
