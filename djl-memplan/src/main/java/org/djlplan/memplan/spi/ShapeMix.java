package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.djlplan.thirdparty.guava.base.Splitter;
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

    private static final Pattern TEXT =
            Pattern.compile("ShapeMix\\[shapes=\\[\\[\\[([\\[\\], \\d]*)]]], changes=([.\\dE-]+)]");

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
        checkArgument(
                shapes.stream().flatMap(List::stream).flatMap(List::stream).allMatch(d -> d > 0),
                "dimensions below 1: %s",
                shapes);
        checkArgument(changes > 0 && changes <= 1, "changes: %s", changes);
    }

    /**
     * Returns the mix with this text.
     *
     * @param text as {@link #toString} returns it
     * @throws IllegalArgumentException if it is another text
     */
    public static ShapeMix parse(String text) {
        Matcher parts = TEXT.matcher(text);
        checkArgument(parts.matches(), "no mix of shapes: %s", text);
        List<List<List<Integer>>> shapes =
                Splitter.on("]], [[")
                        .splitToStream(parts.group(1))
                        .map(
                                inputs ->
                                        Splitter.on("], [")
                                                .splitToStream(inputs)
                                                .map(ShapeMix::dimensions)
                                                .toList())
                        .toList();
        ShapeMix mix = new ShapeMix(shapes, Double.parseDouble(parts.group(2)));
        checkArgument(mix.toString().equals(text), "no mix of shapes: %s", text);
        return mix;
    }

    private static List<Integer> dimensions(String shape) {
        return Splitter.on(", ")
                .omitEmptyStrings()
                .splitToStream(shape)
                .map(Integer::valueOf)
                .toList();
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

    /** Returns the number of elements of the largest shapes, of all inputs together. */
    public double mostElements() {
        return shapes.stream().mapToDouble(ShapeMix::elements).max().orElseThrow();
    }

    /** Returns the number of elements of inputs with these shapes. */
    public static double elements(List<List<Integer>> inputs) {
        double sum = 0;
        for (List<Integer> shape : inputs) {
            double product = 1;
            for (int dimension : shape) {
                product *= dimension;
            }
            sum += product;
        }
        return sum;
    }

    private static boolean isLike(List<List<Integer>> one, List<List<Integer>> other) {
        return one.size() == other.size()
                && IntStream.range(0, one.size())
                        .allMatch(i -> one.get(i).size() == other.get(i).size());
    }
}
