package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.BreadthOrder;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The strategies for shared objects, in order of preference for equally small plans. */
public final class SharedStrategies {

    /** All but the search. */
    static final ImmutableList<OffsetStrategy> GREEDY =
            ImmutableList.of(
                    SharedObjects.strategy(
                            "shared-greedy-by-size-improved",
                            50_000,
                            GreedyBySizeImproved::objects),
                    SharedObjects.strategy(
                            "shared-greedy-by-size", 50_000, SharedStrategies::greedyBySize),
                    SharedObjects.strategy(
                            "shared-greedy-by-breadth", 50_000, SharedStrategies::greedyByBreadth),
                    SharedObjects.strategy(
                            "shared-greedy-in-order", 1_000_000, SharedStrategies::greedyInOrder),
                    SharedObjects.strategy("shared-min-cost-flow", 1_500, MinCostFlow::objects),
                    SharedObjects.strategy(
                            "shared-equality", 1_000_000, SharedStrategies::equalitySizes),
                    SharedObjects.strategy(
                            "shared-naive", Integer.MAX_VALUE, SharedStrategies::naive));

    private static final OffsetStrategy OPTIMAL =
            new OffsetStrategy(
                    OptimalObjects.NAME,
                    2_000,
                    problem -> new OptimalObjects().search(problem).plan().unitOffsets());

    private static final ImmutableList<OffsetStrategy> ALL =
            ImmutableList.<OffsetStrategy>builder().addAll(GREEDY).add(OPTIMAL).build();

    private SharedStrategies() {}

    public static ImmutableList<OffsetStrategy> all() {
        return ALL;
    }

    /**
     * Returns the plan of every strategy for every variant that it supports, variant by variant.
     * All attempts at one variant have the same lower bound: the sum of positional maxima, or a
     * larger bound that the search proved.
     *
     * @param variants the same records, for example without and with alias classes
     */
    public static List<Attempt> attempts(
            List<OffsetStrategy> strategies, List<PlanningProblem> variants) {
        List<Attempt> all = new ArrayList<>();
        for (PlanningProblem problem : variants) {
            long boundBytes = LowerBounds.sharedObjectBytes(problem.units());
            List<Attempt> attempts = new ArrayList<>();
            for (OffsetStrategy strategy : strategies) {
                if (strategy.admits(problem)) {
                    Stopwatch watch = Stopwatch.createStarted();
                    OffsetPlan plan;
                    if (strategy.equals(OPTIMAL)) {
                        OptimalObjects.Result result = new OptimalObjects().search(problem);
                        plan = result.plan();
                        boundBytes = result.lowerBoundBytes();
                    } else {
                        plan = strategy.plan(problem);
                    }
                    long nanos = watch.elapsed(TimeUnit.NANOSECONDS);
                    attempts.add(
                            new Attempt(
                                    plan, nanos, PlanValidator.violations(plan, 1), boundBytes));
                }
            }
            for (Attempt attempt : attempts) {
                all.add(
                        new Attempt(
                                attempt.plan(), attempt.nanos(), attempt.violations(), boundBytes));
            }
        }
        return all;
    }

    /**
     * Greedy by Size (Pisarchyk and Lee 2020, section 4.3, Algorithm 2): units by size, largest
     * first; each gets the smallest free object, otherwise a new one. No object ever grows. O(k n
     * log n) for k objects.
     */
    private static Map<Integer, Integer> greedyBySize(List<UsageRecord> units) {
        return leastGrowth(ImmutableList.sortedCopyOf(UnitOrders::bySize, units));
    }

    /**
     * Greedy by Breadth (Pisarchyk and Lee 2020, section 4.2, Algorithm 1): units in {@link
     * BreadthOrder}; each gets the smallest large enough object that is free, otherwise the largest
     * free one, which grows, otherwise a new one. O(k n log n) for k objects.
     */
    private static Map<Integer, Integer> greedyByBreadth(List<UsageRecord> units) {
        return leastGrowth(BreadthOrder.of(units));
    }

    /**
     * Gives each unit the free object that must grow least, on a tie the smallest, then the oldest.
     */
    private static Map<Integer, Integer> leastGrowth(List<UsageRecord> order) {
        List<Schedule> objects = new ArrayList<>();
        Map<Integer, Integer> chosen = new HashMap<>();
        for (UsageRecord unit : order) {
            int best = objects.size();
            long leastGrowth = Long.MAX_VALUE;
            for (int object = 0; object < objects.size(); object++) {
                long bytes = objects.get(object).bytes();
                long growth = Math.max(0, unit.bytes() - bytes);
                boolean better =
                        best == objects.size()
                                || growth < leastGrowth
                                || (growth == leastGrowth && bytes < objects.get(best).bytes());
                if (better && objects.get(object).idle(unit).isPresent()) {
                    best = object;
                    leastGrowth = growth;
                }
            }
            if (best == objects.size()) {
                objects.add(new Schedule());
            }
            objects.get(best).add(unit);
            chosen.put(unit.tensor(), best);
        }
        return chosen;
    }

    /**
     * Greedy in order (Lee et al. 2019, on the memory manager): units in execution order; each gets
     * the free object with the nearest size, which may have to grow.
     */
    private static Map<Integer, Integer> greedyInOrder(List<UsageRecord> units) {
        return NearestFree.objects(units, UsageRecord::bytes, Math::max);
    }

    /** Equality (Lee et al. 2019): only units of the same size share an object. */
    private static Map<Integer, Integer> equalitySizes(List<UsageRecord> units) {
        Map<Integer, Integer> objects = new HashMap<>();
        int opened = 0;
        for (List<UsageRecord> sameSize :
                units.stream()
                        .collect(
                                Collectors.groupingBy(
                                        UsageRecord::bytes, TreeMap::new, Collectors.toList()))
                        .values()) {
            int before = opened;
            for (Map.Entry<Integer, Integer> each :
                    NearestFree.objects(sameSize, unit -> 0, Math::max).entrySet()) {
                objects.put(each.getKey(), before + each.getValue());
                opened = Math.max(opened, before + each.getValue() + 1);
            }
        }
        return objects;
    }

    private static Map<Integer, Integer> naive(List<UsageRecord> units) {
        Map<Integer, Integer> objects = new HashMap<>();
        units.forEach(unit -> objects.put(unit.tensor(), objects.size()));
        return objects;
    }
}
