package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Validates a shared-objects plan against its problem, independently of the strategy: from the
 * records and alias classes it derives which tensors hold an object at which time.
 *
 * <p>Members of an alias class hold their object together, from the first use of the class to the
 * last. Holders of an object are sorted by start, and each is compared with the one before it that
 * ends last: O(n log n). So an object with several holders at once is always reported, but not for
 * every pair of them.
 */
public final class SharedObjectsValidator {

    /** A holder of an object and its time, inclusive. */
    private record Holder(int tensor, int first, int last) {}

    private final List<Violation> violations = new ArrayList<>();

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
     */
    public static ImmutableList<Violation> violations(
            PlanningProblem problem, Map<Integer, Integer> objects, List<Long> objectBytes) {
        SharedObjectsValidator validator = new SharedObjectsValidator();
        for (UsageRecord record : problem.records()) {
            validator.checkObject(record, objects, objectBytes);
        }
        validator.checkHolders(validator.holders(problem, objects), objects);
        return ImmutableList.copyOf(validator.violations);
    }

    private void checkObject(
            UsageRecord record, Map<Integer, Integer> objects, List<Long> objectBytes) {
        Integer object = objects.get(record.tensor());
        if (object == null) {
            violations.add(new SharedObjectsViolation.NoObject(record.tensor()));
        } else if (object < 0 || object >= objectBytes.size()) {
            violations.add(
                    new SharedObjectsViolation.UnknownObject(
                            record.tensor(), object, objectBytes.size()));
        } else if (objectBytes.get(object) < record.bytes()) {
            violations.add(
                    new SharedObjectsViolation.ObjectTooSmall(
                            record.tensor(), record.bytes(), objectBytes.get(object)));
        }
    }

    /** Merges each alias class into one holder; reports members that lie elsewhere. */
    private Iterable<Holder> holders(PlanningProblem problem, Map<Integer, Integer> objects) {
        Map<Integer, Holder> byTensor = new TreeMap<>();
        for (UsageRecord r : problem.records()) {
            if (objects.containsKey(r.tensor())) {
                byTensor.put(r.tensor(), new Holder(r.tensor(), r.first(), r.last()));
            }
        }
        for (List<Integer> members : problem.aliasClasses()) {
            List<Holder> found =
                    members.stream().filter(byTensor::containsKey).map(byTensor::get).toList();
            Map<Integer, Holder> together = new TreeMap<>();
            for (Holder each : found) {
                byTensor.remove(each.tensor);
                together.merge(objects.get(each.tensor), each, SharedObjectsValidator::both);
                if (!objects.get(each.tensor).equals(objects.get(found.get(0).tensor))) {
                    violations.add(new Violation.AliasApart(each.tensor, found.get(0).tensor));
                }
            }
            together.values().forEach(holder -> byTensor.put(holder.tensor, holder));
        }
        return byTensor.values();
    }

    private static Holder both(Holder a, Holder b) {
        return new Holder(a.tensor, Math.min(a.first, b.first), Math.max(a.last, b.last));
    }

    private void checkHolders(Iterable<Holder> holders, Map<Integer, Integer> objects) {
        Map<Integer, List<Holder>> byObject = new TreeMap<>();
        for (Holder holder : holders) {
            byObject.computeIfAbsent(objects.get(holder.tensor), any -> new ArrayList<>())
                    .add(holder);
        }
        for (List<Holder> inTurn : byObject.values()) {
            inTurn.sort(Comparator.comparingInt(Holder::first).thenComparingInt(Holder::tensor));
            Holder longest = inTurn.get(0);
            for (Holder next : inTurn.subList(1, inTurn.size())) {
                if (next.first <= longest.last) {
                    violations.add(
                            new SharedObjectsViolation.ObjectInUse(longest.tensor, next.tensor));
                }
                longest = next.last > longest.last ? next : longest;
            }
        }
    }
}
