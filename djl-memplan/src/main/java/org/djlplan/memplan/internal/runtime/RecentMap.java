package org.djlplan.memplan.internal.runtime;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map of limited size, which drops the entry that was used least recently. It replaces Guava's
 * caches, whose seventy classes would delay the first model of a JVM.
 */
public final class RecentMap<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1L;
    private static final int CAPACITY = 16;
    private static final float LOAD_FACTOR = 0.75f;

    private final int most;

    private RecentMap(int most) {
        super(CAPACITY, LOAD_FACTOR, true);
        this.most = most;
    }

    /** Returns an empty thread-safe map that holds at most {@code most} entries. */
    public static <K, V> Map<K, V> ofMost(int most) {
        return Collections.synchronizedMap(new RecentMap<>(most));
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > most;
    }
}
