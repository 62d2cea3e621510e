package org.djlplan.study.shared;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Validates a shared-objects plan against its problem, independently of the strategy: every tensor
 * has an object that is large enough, and {@link PlanValidator} finds no overlap if the objects lie
 * end to end in one arena.
 */
public final class SharedObjectsValidator {

    private SharedObjectsValidator() {}

    /** Returns the violations of a plan; empty if it is valid. */
    public static ImmutableList<Violation> violations(SharedObjectsPlan plan) {
        Map<Integer, Integer> objects = new HashMap<>();
        for (UsageRecord record : plan.problem().records()) {
            objects.put(record.tensor(), plan.objectOf(record.tensor()));
        }
        return violations(plan.problem(), objects, plan.objectBytes());
    }

    /**
     * Returns the violations of {@code objects}; empty if they are a valid plan.
     *
     * @param problem that was planned
     * @param objects number of the object of every tensor, by tensor id
     * @param objectBytes size in bytes of every object, by number
     * @throws ArithmeticException if the sum of sizes does not fit into a long
     */
    public static ImmutableList<Violation> violations(
            PlanningProblem problem, Map<Integer, Integer> objects, List<Long> objectBytes) {
        ImmutableList.Builder<Violation> violations = ImmutableList.builder();
        long[] starts = EndToEnd.starts(objectBytes);
        Map<Integer, Long> offsets = new HashMap<>();
        for (UsageRecord record : problem.records()) {
            int tensor = record.tensor();
            Integer object = objects.get(tensor);
            if (object == null) {
                violations.add(new SharedObjectsViolation.NoObject(tensor));
            } else if (object < 0 || object >= objectBytes.size()) {
                violations.add(
                        new SharedObjectsViolation.UnknownObject(
                                tensor, object, objectBytes.size()));
            } else {
                offsets.put(tensor, starts[object]);
                if (objectBytes.get(object) < record.bytes()) {
                    violations.add(
                            new SharedObjectsViolation.ObjectTooSmall(
                                    tensor, record.bytes(), objectBytes.get(object)));
                }
            }
        }
        long arenaBytes = starts[objectBytes.size()];
        for (Violation found : PlanValidator.violations(problem, offsets, arenaBytes, 1)) {
            if (found instanceof Violation.AliasApart) {
                violations.add(found);
            } else if (found instanceof Violation.Overlap overlap
                    && objects.get(overlap.tensor()).equals(objects.get(overlap.other()))) {
                violations.add(
                        new SharedObjectsViolation.ObjectInUse(overlap.tensor(), overlap.other()));
            }
        }
        return violations.build();
    }
}
