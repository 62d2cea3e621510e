package org.djlplan.memplan.cli;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.math.LinearTransformation;
import com.google.common.math.PairedStatsAccumulator;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Growth of a strategy's time with the number n of units of generated problems.
 *
 * @param instance kind of the problems
 * @param strategy name of the strategy
 * @param fromUnits smallest problem of the curve
 * @param toUnits largest
 * @param exponent slope of the logarithm of time over that of n: 1 for linear, 2 for quadratic; a
 *     factor of log n adds about .1
 * @param claimed what the strategy's documentation says, if it names a power of n
 */
record CostCurve(
        String instance,
        String strategy,
        int fromUnits,
        int toUnits,
        double exponent,
        Optional<String> claimed) {

    /** Smaller problems take microseconds, which tell of fixed costs only. */
    private static final int MOST_POINTS = 3;

    /** Returns the curve of every kind and strategy with two sizes at least. */
    static ImmutableList<CostCurve> of(Collection<PlannerBench.Row> rows) {
        Map<List<String>, List<PlannerBench.Row>> series = new LinkedHashMap<>();
        for (PlannerBench.Row row : rows) {
            series.merge(
                    List.of(row.instance(), row.strategy()),
                    List.of(row),
                    (some, one) ->
                            ImmutableList.<PlannerBench.Row>builder()
                                    .addAll(some)
                                    .addAll(one)
                                    .build());
        }
        return series.values().stream()
                .filter(points -> points.size() > 1)
                .map(CostCurve::ofSeries)
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns the slope of the straight line of least squares through the points, both axes
     * logarithmic.
     *
     * @param units at least two sizes, not all the same
     * @param millis one positive time for each
     */
    static double exponent(List<Integer> units, List<Double> millis) {
        checkArgument(units.size() == millis.size(), "%s sizes", units.size());
        PairedStatsAccumulator points = new PairedStatsAccumulator();
        for (int i = 0; i < units.size(); i++) {
            points.add(Math.log(units.get(i)), Math.log(millis.get(i)));
        }
        LinearTransformation line = points.leastSquaresFit();
        return line.slope();
    }

    private static CostCurve ofSeries(List<PlannerBench.Row> all) {
        List<PlannerBench.Row> points =
                all.subList(Math.max(0, all.size() - MOST_POINTS), all.size());
        PlannerBench.Row first = points.get(0);
        PlannerBench.Row last = points.get(points.size() - 1);
        return new CostCurve(
                first.instance(),
                first.strategy(),
                first.units(),
                last.units(),
                exponent(
                        points.stream().map(PlannerBench.Row::units).toList(),
                        points.stream().map(PlannerBench.Row::medianMillis).toList()),
                ClaimedCosts.of(first.strategy()));
    }

    /**
     * The time that the documentation of each strategy claims, for n units and k objects, to stand
     * beside the measured curve. A claim is an upper bound: a measured exponent may be lower. How
     * fast k grows is the problem's matter.
     */
    static final class ClaimedCosts {

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
}
