package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The sizes and the times of use of shared objects while units are assigned in any order. Testing
 * whether an object is free for a unit takes O(log n).
 */
final class ObjectSchedules {

    /** Per object, by number: the last operator of each of its units by the first. */
    private final List<NavigableMap<Integer, Integer>> schedules = new ArrayList<>();

    private final List<Long> bytes = new ArrayList<>();

    /** The numbers of all objects by size in bytes. */
    private final NavigableMap<Long, NavigableSet<Integer>> bySize = new TreeMap<>();

    private final ImmutableMap.Builder<Integer, Integer> unitObjects = ImmutableMap.builder();

    /**
     * Gives a unit the smallest free object that is large enough; otherwise the largest free
     * object, which grows; otherwise a new one. Ties go to the object with the lowest number. O(k
     * log n) for k objects.
     */
    void place(UsageRecord unit) {
        int object =
                firstFree(bySize.tailMap(unit.bytes(), true), unit)
                        .orElseGet(
                                () ->
                                        firstFree(
                                                        bySize.headMap(unit.bytes(), false)
                                                                .descendingMap(),
                                                        unit)
                                                .orElseGet(() -> open(unit)));
        schedules.get(object).put(unit.first(), unit.last());
        unitObjects.put(unit.tensor(), object);
        if (bytes.get(object) < unit.bytes()) {
            grow(object, unit.bytes());
        }
    }

    private OptionalInt firstFree(Map<Long, NavigableSet<Integer>> candidates, UsageRecord unit) {
        for (NavigableSet<Integer> objects : candidates.values()) {
            for (int object : objects) {
                if (isFree(object, unit)) {
                    return OptionalInt.of(object);
                }
            }
        }
        return OptionalInt.empty();
    }

    private boolean isFree(int object, UsageRecord unit) {
        Map.Entry<Integer, Integer> before = schedules.get(object).floorEntry(unit.last());
        return before == null || before.getValue() < unit.first();
    }

    private int open(UsageRecord unit) {
        int object = schedules.size();
        schedules.add(new TreeMap<>());
        bytes.add(unit.bytes());
        bySize.computeIfAbsent(unit.bytes(), any -> new TreeSet<>()).add(object);
        return object;
    }

    private void grow(int object, long newBytes) {
        long oldBytes = bytes.set(object, newBytes);
        NavigableSet<Integer> sameSize = bySize.get(oldBytes);
        sameSize.remove(object);
        if (sameSize.isEmpty()) {
            bySize.remove(oldBytes);
        }
        bySize.computeIfAbsent(newBytes, any -> new TreeSet<>()).add(object);
    }

    /** Returns the plan; must be called after every unit of the problem got an object. */
    SharedObjectsPlan toPlan(String strategy, PlanningProblem problem) {
        return new SharedObjectsPlan(strategy, problem, unitObjects.buildOrThrow());
    }
}
