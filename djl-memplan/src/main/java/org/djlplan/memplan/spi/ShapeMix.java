package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Input shapes of predictions, other than those in the model's file, and how often they change. A
 * delegate is measured at these shapes, and serves all shapes that they enclose.
 *
 * @param shapes one to {@value #MOST} of them; each has a shape for every input
 * @param changes share of predictions for which an interpreter must be reallocated, above 0, at
 *     most 1
 */
public record ShapeMix(List<List<List<Integer>>> shapes, double changes) {

    /** Largest number of measured shapes. */
    public static final int MOST = 3;

    private static final int OFTEN = 8;

    public ShapeMix {
        shapes =
                shapes.stream()
                        .map(
                                inputs ->
                                        inputs.stream()
                                                .map(ImmutableList::copyOf)
                                                .map(input -> (List<Integer>) input)
                                                .toList())
                        .toList();
        checkArgument(!shapes.isEmpty() && shapes.size() <= MOST, "%s shapes", shapes.size());
        List<List<Integer>> first = shapes.get(0);
        checkArgument(
                shapes.stream().allMatch(each -> isLike(each, first)),
                "shapes of different ranks: %s",
                shapes);
        checkArgument(changes > 0 && changes <= 1, "changes: %s", changes);
    }

    /** Returns whether shapes change with one prediction in {@value #OFTEN} at least. */
    public boolean changesOften() {
        return changes * OFTEN >= 1;
    }

    /**
     * Returns whether inputs have one of these shapes or, if there are {@value #MOST} shapes,
     * whether each dimension lies between the smallest and the largest of these.
     */
    public boolean encloses(List<List<Integer>> inputs) {
        return shapes.contains(inputs)
                || (shapes.size() == MOST
                        && isLike(inputs, shapes.get(0))
                        && IntStream.range(0, inputs.size())
                                .allMatch(input -> isBetween(inputs.get(input), input)));
    }

    private boolean isBetween(List<Integer> shape, int input) {
        return IntStream.range(0, shape.size())
                .allMatch(
                        i -> {
                            int dimension = shape.get(i);
                            return shapes.stream().anyMatch(s -> s.get(input).get(i) <= dimension)
                                    && shapes.stream()
                                            .anyMatch(s -> s.get(input).get(i) >= dimension);
                        });
    }

    private static boolean isLike(List<List<Integer>> one, List<List<Integer>> other) {
        return one.size() == other.size()
                && IntStream.range(0, one.size())
                        .allMatch(i -> one.get(i).size() == other.get(i).size());
    }
}
