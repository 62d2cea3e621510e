package org.djlplan.study.shared;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Map;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * An assignment of a shared object to every unit of a problem. It is not necessarily valid: two
 * units of an object may be alive at once.
 *
 * @param strategy name of the strategy
 * @param problem that was planned
 * @param unitObjects number of the object of every unit, by the unit's tensor id; objects are
 *     numbered from 0 without gaps
 */
public record SharedObjectsPlan(
        String strategy, PlanningProblem problem, Map<Integer, Integer> unitObjects) {

    public SharedObjectsPlan {
        unitObjects = ImmutableMap.copyOf(unitObjects);
        for (UsageRecord unit : problem.units()) {
            checkArgument(unitObjects.containsKey(unit.tensor()), "no object for %s", unit);
        }
        checkArgument(unitObjects.size() == problem.units().size(), "objects without a unit");
        long objects = unitObjects.values().stream().distinct().count();
        for (int object : unitObjects.values()) {
            checkArgument(
                    object >= 0 && object < objects,
                    "%s objects, but one is number %s",
                    objects,
                    object);
        }
    }

    /** Returns the number of a tensor's object. */
    public int objectOf(int tensor) {
        return unitObjects.get(problem.unitOf(tensor));
    }

    /** Returns the size in bytes of every object (of its largest unit), by number. */
    public ImmutableList<Long> objectBytes() {
        int objects = (int) unitObjects.values().stream().distinct().count();
        Long[] bytes = new Long[objects];
        for (UsageRecord unit : problem.units()) {
            int object = unitObjects.get(unit.tensor());
            bytes[object] =
                    bytes[object] == null
                            ? unit.bytes()
                            : (Long) Math.max(bytes[object], unit.bytes());
        }
        return ImmutableList.copyOf(bytes);
    }

    /**
     * Returns the sum in bytes of all objects' sizes.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    public long totalBytes() {
        long total = 0;
        for (long bytes : objectBytes()) {
            total = UsageRecords.addBytes(total, bytes);
        }
        return total;
    }
}
