package org.djlplan.study.parallel;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.testing.GraphSketch;

/** Graphs whose operators can run in many orders. */
public final class BranchyGraphs {

    private BranchyGraphs() {}

    /**
     * Returns parallel branches of convolutions, concatenated at the end; tensors have 64 bytes.
     *
     * @param length number of convolutions in each branch
     */
    public static Graph branches(int branches, int length) {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(16);
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < branches; i++) {
            int end = input;
            for (int j = 0; j < length; j++) {
                int next = sketch.tensor(16);
                sketch.operator("CONV_2D", next, end);
                end = next;
            }
            ends.add(end);
        }
        int output = sketch.tensor(16, branches);
        return sketch.operator("CONCATENATION", output, ends.toArray(Integer[]::new))
                .output(output)
                .build();
    }

    /** Returns a graph whose operators read any tensors written before. */
    static Graph random(Random random, int operators) {
        GraphSketch sketch = new GraphSketch();
        List<Integer> ready = new ArrayList<>();
        List<Integer[]> shapes = new ArrayList<>();
        Integer[][] choice = {{16}, {4, 4}, {32}, {48}};
        ready.add(sketch.input(16));
        shapes.add(choice[0]);
        for (int i = 0; i < operators; i++) {
            int at = random.nextInt(ready.size());
            int other = random.nextInt(ready.size());
            Integer[] shape = shapes.get(at);
            List<Integer> reads = List.of(ready.get(at));
            List<Integer> temporaries = List.of();
            String type = "RELU";
            switch (random.nextInt(5)) {
                case 0 -> {
                    type = "CONV_2D";
                    shape = choice[random.nextInt(choice.length)];
                    reads = List.of(ready.get(at), ready.get(other));
                    temporaries = random.nextBoolean() ? List.of() : List.of(sketch.tensor(16));
                }
                case 1 -> {
                    type = "RESHAPE";
                    shape = shape == choice[0] ? choice[1] : shape;
                }
                case 2 -> {
                    if (shapes.get(other) == shape) {
                        type = "SUB";
                        reads = List.of(ready.get(at), ready.get(other));
                    }
                }
                default -> {}
            }
            int output = sketch.tensor(shape);
            sketch.operator(type, reads, List.of(output), temporaries);
            ready.add(output);
            shapes.add(shape);
        }
        return sketch.output(ready.get(ready.size() - 1)).build();
    }
}
