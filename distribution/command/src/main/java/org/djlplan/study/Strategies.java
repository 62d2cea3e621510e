package org.djlplan.study;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlacedUnits;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.strippacking.CriticalFirst;
import org.djlplan.study.strippacking.StripPacking;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** The offset strategies by name: those that run in applications, and others for comparison. */
public final class Strategies {

    /** The name for running {@link Portfolio#STRATEGIES} and using the best plan. */
    public static final String BEST = "best";

    private static final int LARGEST_PROBLEM = 100_000;

    private static final ImmutableList<OffsetStrategy> OFFSETS =
            ImmutableList.of(
                    Greedy.BY_SIZE,
                    Greedy.BY_BREADTH,
                    Greedy.REPEATED,
                    StripPacking.BEST_FIT,
                    CriticalFirst.STRATEGY,
                    StripPacking.PATH_COVER,
                    new OffsetStrategy("tflite-arena", LARGEST_PROBLEM, Strategies::tfliteArena),
                    new OffsetStrategy(
                            "greedy-in-order", LARGEST_PROBLEM, Strategies::greedyInOrder),
                    StripPacking.LONGEST_FIRST,
                    Greedy.NAIVE);

    private Strategies() {}

    /** Returns every name that {@link #named} accepts. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        OFFSETS.forEach(strategy -> names.add(strategy.name()));
        return names.add(ExactSearch.STRATEGY.name()).add(BEST).build();
    }

    /**
     * Returns every strategy for one arena except the exact search, in order of preference for
     * equal plans.
     */
    public static ImmutableList<OffsetStrategy> offsets() {
        return OFFSETS;
    }

    /**
     * Returns the strategies of a name, in order of preference: one, or several for {@link #BEST}.
     *
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     *     name
     */
    public static ImmutableList<OffsetStrategy> named(String name) {
        if (name.equals(BEST)) {
            return Portfolio.STRATEGIES;
        }
        return Stream.concat(OFFSETS.stream(), Stream.of(ExactSearch.STRATEGY))
                .filter(strategy -> strategy.name().equals(name))
                .findFirst()
                .map(ImmutableList::of)
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "no strategy '%s'; did you mean '%s'?"
                                                .formatted(name, Nearest.of(name, names()))));
    }

    /**
     * Returns a strategy that plans as if sizes became known while the model runs, so that the cost
     * of unknown sizes can be compared with other strategies. Whenever sizes become known, these
     * tensors are placed by size, largest first, each into the smallest gap; placed tensors never
     * move.
     *
     * @param knownAt by tensor id, the operator that resolves the tensor's size, which is not used
     *     before; other tensors are known before the model runs
     */
    public static OffsetStrategy inRounds(Map<Integer, Integer> knownAt) {
        Comparator<UsageRecord> byRound =
                Comparator.comparingInt(unit -> knownAt.getOrDefault(unit.tensor(), 0));
        return new OffsetStrategy(
                "rounds",
                50_000,
                problem ->
                        PlacedUnits.inOrder(
                                ImmutableList.sortedCopyOf(
                                        byRound.thenComparing(UnitOrders::bySize),
                                        problem.units())));
    }

    /**
     * The arena of TensorFlow Lite's interpreter ({@code
     * ArenaPlanner::CreateTensorAllocationVector} and {@code SimpleMemoryArena::Allocate}): units
     * that live from the first operator to the last, by tensor id, so that they lie at the arena's
     * start; then the others by size, largest first, ties by first operator, then by tensor id;
     * each into the smallest gap that fits. TensorFlow Lite places first only the tensors that it
     * never frees; here these are the units that span the whole problem.
     */
    private static Map<Integer, Long> tfliteArena(PlanningProblem problem) {
        List<UsageRecord> units = problem.units();
        int first = units.stream().mapToInt(UsageRecord::first).min().orElse(0);
        int last = units.stream().mapToInt(UsageRecord::last).max().orElse(0);
        Predicate<UsageRecord> spansAll = unit -> unit.first() == first && unit.last() == last;
        return PlacedUnits.inOrder(
                Stream.concat(
                                units.stream().filter(spansAll),
                                units.stream()
                                        .filter(spansAll.negate())
                                        .sorted(UnitOrders::bySizeAndFirst))
                        .toList());
    }

    /**
     * Units by first operator, ties by size, largest first, then by tensor id; each into the
     * smallest gap that fits. An allocator that hands out memory while the model runs has the same
     * order (Lee et al. 2019 use it for shared objects). So this strategy shows how small an arena
     * a best-fit allocator can achieve without knowledge of the future.
     */
    private static Map<Integer, Long> greedyInOrder(PlanningProblem problem) {
        return PlacedUnits.inOrder(
                ImmutableList.sortedCopyOf(UnitOrders::byFirstAndSize, problem.units()));
    }
}
