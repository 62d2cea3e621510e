package org.djlplan.study.shared;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A strategy that reuses objects of equal size only: units in execution order, ties by tensor id;
 * each gets the most recently released free object of exactly its size, otherwise a new one.
 * Frameworks that share memory only between arrays of the same shape work like this; TensorFlow
 * Lite's GPU delegate calls it {@code EQUALITY}. O(n log n).
 */
public final class EqualitySizes implements SharedObjectsStrategy {

    @Override
    public String name() {
        return "shared-equality";
    }

    @Override
    public int largestProblem() {
        return 1_000_000;
    }

    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        Map<Long, Deque<Integer>> pools = new HashMap<>();
        ObjectsInUse inUse = new ObjectsInUse();
        List<Long> bytes = new ArrayList<>();
        ImmutableMap.Builder<Integer, Integer> objects = ImmutableMap.builder();
        for (UsageRecord unit : ObjectsInUse.inOrder(problem.units())) {
            inUse.release(unit, object -> pools.get(bytes.get(object)).push(object));
            Deque<Integer> pool =
                    pools.computeIfAbsent(unit.bytes(), sameSize -> new ArrayDeque<>());
            int object = pool.isEmpty() ? bytes.size() : pool.pop();
            if (object == bytes.size()) {
                bytes.add(unit.bytes());
            }
            objects.put(unit.tensor(), object);
            inUse.use(object, unit);
        }
        return new SharedObjectsPlan(name(), problem, objects.buildOrThrow());
    }
}
