package org.djlplan.memplan.internal.runtime;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** The shapes of a prediction's inputs, by which predictions need memory. Immutable. */
public final class InputSizes {

    /** The inputs of which nothing is known; more elements than any others. */
    public static final InputSizes UNKNOWN = new InputSizes(new long[0][], Long.MAX_VALUE);

    private final long[][] shapes;
    private final long elements;

    private InputSizes(long[][] shapes, long elements) {
        this.shapes = shapes;
        this.elements = elements;
    }

    /**
     * Returns sizes.
     *
     * @param shapes one for each input; the arrays are not copied
     */
    public static InputSizes of(long[]... shapes) {
        long elements = 0;
        for (long[] shape : shapes) {
            long product = 1;
            for (long dimension : shape) {
                product *= dimension;
            }
            elements += Math.max(0, product);
        }
        return new InputSizes(shapes, elements);
    }

    /** Returns the sizes of inputs of a TensorFlow Lite model. */
    public static InputSizes of(List<List<Integer>> shapes) {
        return of(shapes.stream().map(Longs::toArray).toArray(long[][]::new));
    }

    /** Returns the number of elements of all inputs together. */
    public long elements() {
        return elements;
    }

    /** Returns the shapes. */
    public List<List<Long>> shapes() {
        return Arrays.stream(shapes)
                .<List<Long>>map(shape -> ImmutableList.copyOf(Longs.asList(shape)))
                .toList();
    }

    /** Returns whether each dimension of each input is at least as long as another's. */
    boolean enclose(InputSizes other) {
        boolean enclose = shapes.length == other.shapes.length && shapes.length > 0;
        for (int i = 0; enclose && i < shapes.length; i++) {
            enclose = shapes[i].length == other.shapes[i].length;
            for (int d = 0; enclose && d < shapes[i].length; d++) {
                enclose = shapes[i][d] >= other.shapes[i][d];
            }
        }
        return enclose;
    }

    /** Returns the shapes as in {@code (300, 512), (300, 512)}. */
    @Override
    public String toString() {
        return shapes().stream()
                .map(
                        shape ->
                                shape.stream()
                                        .map(String::valueOf)
                                        .collect(Collectors.joining(", ", "(", ")")))
                .collect(Collectors.joining(", "));
    }
}
