package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.util.Optional;

/**
 * The time that the documentation of each strategy claims, for n units and k objects, to stand
 * beside the measured curve. A claim is an upper bound: a measured exponent may be lower. How fast
 * k grows is the problem's matter.
 */
final class ClaimedCosts {

    private static final ImmutableMap<String, String> BY_STRATEGY =
            ImmutableMap.<String, String>builder()
                    .put("greedy-by-size", "n k")
                    .put("greedy-by-breadth", "n k")
                    .put("greedy-in-order", "n k")
                    .put("tflite-arena", "n k")
                    .put("critical-first", "n log n, seen")
                    .put("best-fit", "n log^2 n")
                    .put("path-cover", "n log n")
                    .put("longest-first", "n log n")
                    .put("naive", "n")
                    .put("greedy-by-size-over-conflicts", "n^2")
                    .put("greedy-by-conflicts", "n^2")
                    .put("tvm-greedy-by-size", "n^2")
                    .put("tvm-greedy-by-conflicts", "n^2")
                    .put("shared-greedy-by-breadth", "k n log n")
                    .put("shared-greedy-by-size", "k n log n")
                    .put("shared-greedy-by-size-improved", "k n log n")
                    .put("shared-greedy-in-order", "n log n")
                    .put("shared-min-cost-flow", "n^3")
                    .put("shared-equality", "n log n")
                    .put("shared-naive", "n")
                    .buildOrThrow();

    private ClaimedCosts() {}

    /** Returns the claim of a strategy; empty where none of a power of n is made. */
    static Optional<String> of(String strategy) {
        return Optional.ofNullable(BY_STRATEGY.get(strategy));
    }

    /** Returns the names of all strategies with a claim. */
    static ImmutableSet<String> strategies() {
        return BY_STRATEGY.keySet();
    }
}
