package org.djlplan.memplan.metrics;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers the owners of meters that share a name, because a registry has one meter per name and
 * tags. A number becomes free when its owner is garbage-collected, so that reloading a model does
 * not make more and more meters.
 */
final class MeterIds {

    private static final Map<String, List<WeakReference<Object>>> OWNERS = new HashMap<>();

    private MeterIds() {}

    /** Returns the number of an owner among those of its name: 1 for the first. */
    static synchronized String of(String name, Object owner) {
        List<WeakReference<Object>> owners =
                OWNERS.computeIfAbsent(name, first -> new ArrayList<>());
        int free = owners.size();
        for (int i = owners.size() - 1; i >= 0; i--) {
            Object other = owners.get(i).get();
            if (other == owner) {
                return Integer.toString(i + 1);
            }
            free = other == null ? i : free;
        }
        WeakReference<Object> reference = new WeakReference<>(owner);
        if (free == owners.size()) {
            owners.add(reference);
        } else {
            owners.set(free, reference);
        }
        return Integer.toString(free + 1);
    }
}
