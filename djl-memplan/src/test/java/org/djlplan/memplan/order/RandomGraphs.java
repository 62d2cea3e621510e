package org.djlplan.memplan.order;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.testing.GraphSketch;

/** Random graphs: branches, constants, state, temporaries, tensors that are written twice. */
final class RandomGraphs {

    private RandomGraphs() {}

    /** Returns graphs of a number of operators. */
    static Arbitrary<Graph> of(int fewest, int most) {
        return Arbitraries.randomValue(r -> of(r, fewest + r.nextInt(most - fewest + 1)));
    }

    private static Graph of(Random random, int operators) {
        GraphSketch sketch = new GraphSketch();
        List<Integer> readable = new ArrayList<>();
        readable.add(sketch.input(16));
        readable.add(sketch.tensor(ElementType.FLOAT32, Storage.CONSTANT, 1));
        int state = sketch.tensor(ElementType.FLOAT32, Storage.VARIABLE, 1);
        int oldest = random.nextInt(3);
        for (int i = 0; i < operators; i++) {
            List<Integer> reads = new ArrayList<>();
            for (int count = random.nextInt(4); count > 0; count--) {
                int newest = readable.size() - 1;
                // Networks mostly read what was written lately.
                int back = random.nextInt(1 + Math.min(newest, 3 * (oldest + 1)));
                reads.add(readable.get(newest - back));
            }
            List<Integer> writes = new ArrayList<>();
            writes.add(sketch.tensor(16 * (1 + random.nextInt(9))));
            if (random.nextInt(8) == 0) {
                writes.add(sketch.tensor(16 * (1 + random.nextInt(9))));
            }
            if (random.nextInt(12) == 0) {
                reads.add(state);
            }
            if (random.nextInt(12) == 0) {
                writes.add(readable.get(1 + random.nextInt(readable.size() - 1)));
            }
            List<Integer> temporaries =
                    random.nextInt(4) == 0
                            ? List.of(sketch.tensor(16 * (1 + random.nextInt(9))))
                            : List.of();
            String type = random.nextInt(10) == 0 ? "CUSTOM:x" : "ADD";
            sketch.operator(type, reads, writes, temporaries);
            if (random.nextInt(8) == 0) {
                sketch.output(writes.get(0));
            }
            readable.addAll(writes);
        }
        return sketch.build();
    }
}
