package org.djlplan.study.shared;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A strategy for shared objects (Pisarchyk and Lee 2020, section 4): it assigns every unit one of
 * several buffers, each of which holds one unit at a time. The plan lays the buffers end to end.
 *
 * @param rule assigns the buffers
 */
public record SharedObjects(String name, int largestProblem, Rule rule) implements OffsetStrategy {

    /** Assigns objects to units. */
    @FunctionalInterface
    public interface Rule {

        /**
         * Returns the number of every unit's object, by the unit's tensor id; objects are numbered
         * from 0 without gaps.
         *
         * @param units by tensor id
         */
        Map<Integer, Integer> objects(List<UsageRecord> units);
    }

    /**
     * {@inheritDoc}
     *
     * @throws ArithmeticException if the objects do not fit into a long
     */
    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        return endToEnd(name, problem, rule.objects(problem.units()));
    }

    /** Lays objects end to end, each as large as its largest unit. */
    static OffsetPlan endToEnd(
            String strategy, PlanningProblem problem, Map<Integer, Integer> objects) {
        List<UsageRecord> units = problem.units();
        long[] starts = new long[units.size() + 1];
        for (UsageRecord unit : units) {
            int object = objects.get(unit.tensor());
            starts[object + 1] = Math.max(starts[object + 1], unit.bytes());
        }
        for (int object = 0; object < units.size(); object++) {
            starts[object + 1] = UsageRecords.addBytes(starts[object], starts[object + 1]);
        }
        return OffsetPlan.ofUnits(
                strategy,
                problem,
                units.stream().mapToLong(unit -> starts[objects.get(unit.tensor())]).toArray());
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
