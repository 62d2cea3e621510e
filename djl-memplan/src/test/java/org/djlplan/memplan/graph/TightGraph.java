package org.djlplan.memplan.graph;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;
import java.util.List;

/**
 * A graph that the greedy strategies do not plan as small as can be: its large tensors are the
 * pieces of a rectangle that was cut at random, with operators as its width and bytes as its
 * height.
 */
public final class TightGraph {

    /** Size of the smallest arena, at the lower bound; two small tensors lie beside the pieces. */
    public static final long MINIMAL_BYTES = 60 * 4096 + 128;

    /** From which time until before which other, and height in units. */
    private static final ImmutableList<List<Integer>> PIECES =
            ImmutableList.of(
                    Ints.asList(0, 2, 17),
                    Ints.asList(0, 3, 17),
                    Ints.asList(0, 3, 1),
                    Ints.asList(0, 2, 24),
                    Ints.asList(0, 16, 1),
                    Ints.asList(2, 5, 17),
                    Ints.asList(2, 7, 6),
                    Ints.asList(2, 7, 4),
                    Ints.asList(2, 7, 14),
                    Ints.asList(3, 11, 9),
                    Ints.asList(3, 13, 4),
                    Ints.asList(3, 13, 4),
                    Ints.asList(3, 13, 1),
                    Ints.asList(5, 13, 8),
                    Ints.asList(5, 16, 3),
                    Ints.asList(5, 16, 6),
                    Ints.asList(7, 16, 6),
                    Ints.asList(7, 14, 11),
                    Ints.asList(7, 14, 7),
                    Ints.asList(11, 13, 9),
                    Ints.asList(13, 16, 8),
                    Ints.asList(13, 16, 12),
                    Ints.asList(13, 16, 6),
                    Ints.asList(14, 16, 18));

    private static final int END = 16;
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
        int[] tensors = new int[PIECES.size()];
        int total = -1;
        for (int time = 0; time <= END; time++) {
            for (int i = 0; i < tensors.length; i++) {
                if (PIECES.get(i).get(1) == time) {
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
                if (PIECES.get(i).get(0) == time) {
                    int elements = PIECES.get(i).get(2) * ELEMENTS_PER_UNIT;
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
