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
                violations.add(noObject(tensor));
            } else if (object < 0 || object >= objectBytes.size()) {
                violations.add(unknownObject(tensor, object, objectBytes.size()));
            } else {
                offsets.put(tensor, starts[object]);
                if (objectBytes.get(object) < record.bytes()) {
                    violations.add(objectTooSmall(tensor, record.bytes(), objectBytes.get(object)));
                }
            }
        }
        long arenaBytes = starts[objectBytes.size()];
        for (Violation found : PlanValidator.violations(problem, offsets, arenaBytes, 1)) {
            int first = found.tensors().get(0);
            int last = found.tensors().get(found.tensors().size() - 1);
            if (found.rule().equals(Violation.ALIAS_APART)) {
                violations.add(found);
            } else if (found.rule().equals(Violation.OVERLAP)
                    && objects.get(first).equals(objects.get(last))) {
                violations.add(objectInUse(first, last));
            }
        }
        return violations.build();
    }

    static Violation noObject(int tensor) {
        return new Violation("no-object", ImmutableList.of(tensor), "%s has no object");
    }

    /** A tensor's object is not among the plan's objects. */
    static Violation unknownObject(int tensor, int object, int objects) {
        return new Violation(
                "unknown-object",
                ImmutableList.of(tensor),
                "%s has object number " + object + " of " + objects);
    }

    /** A tensor is larger than its object. */
    static Violation objectTooSmall(int tensor, long tensorBytes, long objectBytes) {
        return new Violation(
                "object-too-small",
                ImmutableList.of(tensor),
                "%s has " + tensorBytes + " bytes in an object of " + objectBytes);
    }

    /** Two tensors that do not share a place are alive at once in one object. */
    static Violation objectInUse(int tensor, int other) {
        return new Violation(
                "object-in-use",
                ImmutableList.of(tensor, other),
                "%s and %s are alive at once in one object");
    }
}
