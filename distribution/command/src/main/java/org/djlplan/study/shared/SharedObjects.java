package org.djlplan.study.shared;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Maps;

/**
 * Shared objects (Pisarchyk and Lee 2020, section 4): every unit gets one of several buffers, each
 * of which holds one unit at a time. A plan lays the buffers end to end.
 */
public final class SharedObjects {

    private SharedObjects() {}

    /**
     * Returns a strategy.
     *
     * @param rule returns the number of every unit's object, by the unit's tensor id, for units by
     *     tensor id; objects are numbered from 0 without gaps
     */
    static OffsetStrategy strategy(
            String name,
            int largestProblem,
            Function<List<UsageRecord>, Map<Integer, Integer>> rule) {
        return new OffsetStrategy(
                name, largestProblem, problem -> endToEnd(problem, rule.apply(problem.units())));
    }

    /**
     * Lays objects end to end, each as large as its largest unit.
     *
     * @return the offset in bytes of every unit, by tensor id
     * @throws ArithmeticException if the objects do not fit into a long
     */
    static Map<Integer, Long> endToEnd(PlanningProblem problem, Map<Integer, Integer> objects) {
        List<UsageRecord> units = problem.units();
        long[] starts = new long[units.size() + 1];
        for (UsageRecord unit : units) {
            int object = objects.get(unit.tensor());
            starts[object + 1] = Math.max(starts[object + 1], unit.bytes());
        }
        for (int object = 0; object < units.size(); object++) {
            starts[object + 1] = UsageRecords.addBytes(starts[object], starts[object + 1]);
        }
        return Maps.transformValues(objects, object -> starts[object]);
    }

    /**
     * Returns the size in bytes of each object of a plan, in the order of their numbers.
     *
     * @param plan of a strategy for shared objects: no object is empty, so no two begin at the same
     *     offset
     */
    public static ImmutableList<Long> objectBytes(OffsetPlan plan) {
        Map<Long, Long> largest = new TreeMap<>();
        for (UsageRecord unit : plan.problem().units()) {
            largest.merge(plan.offsetOf(unit.tensor()), unit.bytes(), Math::max);
        }
        return ImmutableList.copyOf(largest.values());
    }
}
