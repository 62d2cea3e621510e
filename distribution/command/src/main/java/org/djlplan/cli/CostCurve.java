package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.math.LinearTransformation;
import org.djlplan.thirdparty.guava.math.PairedStatsAccumulator;

/**
 * How a strategy's time grows with the number n of units of generated problems.
 *
 * @param instance kind of the problems
 * @param strategy name of the strategy
 * @param fromUnits units of the curve's smallest problem
 * @param toUnits units of its largest problem
 * @param exponent slope of log(time) over log(n): 1 for linear, 2 for quadratic; a factor of log n
 *     adds about 0.1
 * @param claimed time according to the strategy's documentation, if it names a power of n
 */
record CostCurve(
        String instance,
        String strategy,
        int fromUnits,
        int toUnits,
        double exponent,
        Optional<String> claimed) {

    /**
     * The largest problems are used: smaller ones take microseconds, which fixed costs dominate.
     */
    private static final int MOST_POINTS = 3;

    /** Returns the curve of every kind and strategy with at least two sizes. */
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
     * Returns the slope of the least-squares line through the points, both axes logarithmic.
     *
     * @param units at least two sizes, not all the same
     * @param millis one positive time per size
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
     * The time that the documentation of each strategy claims, for n units and k objects, for
     * comparison with the measured curve. A claim is an upper bound: a measured exponent may be
     * lower. The growth of k depends on the problem.
     */
    static final class ClaimedCosts {

        private static final ImmutableMap<String, String> BY_STRATEGY =
                ImmutableMap.<String, String>builder()
                        .put("greedy-by-size", "n^2")
                        .put("greedy-by-breadth", "n^2")
                        .put("repeated-greedy", "n^2")
                        .put("greedy-in-order", "n^2")
                        .put("tflite-arena", "n^2")
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

        /** Returns the claim of a strategy; empty if it claims no power of n. */
        static Optional<String> of(String strategy) {
            return Optional.ofNullable(BY_STRATEGY.get(strategy));
        }

        /** Returns the names of all strategies with a claim. */
        static ImmutableSet<String> strategies() {
            return BY_STRATEGY.keySet();
        }
    }
}
