package org.djlplan.integration.tflite.kernels;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The shapes that kernels are run with. */
final class KernelShapes {

    /** Lengths around the widths of vector loops and their unrolled multiples, and a long one. */
    static final ImmutableList<Integer> LENGTHS =
            ImmutableList.of(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 1021, 40_003);

    /** A shape without even or round sizes. */
    static final ImmutableList<Integer> IMAGE = ImmutableList.of(2, 3, 5, 7);

    /** Shapes that broadcast to {@link #IMAGE} in the fast ("fivefold"), scalar and slow loops. */
    static final ImmutableList<List<Integer>> SMALLER =
            ImmutableList.of(
                    List.of(),
                    List.of(1),
                    List.of(7),
                    List.of(5, 7),
                    List.of(5, 1),
                    List.of(3, 5, 7),
                    List.of(3, 1, 7),
                    List.of(1, 1, 1, 1),
                    List.of(1, 1, 1, 7),
                    List.of(2, 1, 1, 7),
                    List.of(2, 3, 1, 1),
                    List.of(2, 3, 5, 1),
                    List.of(2, 1, 5, 7),
                    List.of(1, 3, 5, 1),
                    List.of(1, 3, 1, 7),
                    List.of(1, 3, 1, 1),
                    List.of(2, 1, 5, 1));

    private KernelShapes() {}
}
