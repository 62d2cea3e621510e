package org.djlplan.memplan.runtime.torch;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells kinds of inputs that are worth a plan: the first few, as most models have no more, and
 * those that come back often. For others a plan saves little, and making it takes time.
 *
 * @param <K> kinds, equal when they are the same
 */
final class Recurrence<K> {

    private static final int FIRST = 8;
    private static final int OFTEN = 64;

    /** One prediction in so many, at least. */
    private static final int SHARE = 32;

    private static final int MOST_COUNTED = 1024;

    private final AtomicInteger kinds = new AtomicInteger();
    private final AtomicLong counted = new AtomicLong();
    private final Cache<K, AtomicInteger> counts =
            CacheBuilder.newBuilder().maximumSize(MOST_COUNTED).concurrencyLevel(1).build();

    /** Counts a kind that has no plan, and returns whether it is worth one. */
    boolean isWorthwhile(K kind) {
        long all = counted.incrementAndGet();
        AtomicInteger count = counts.getIfPresent(kind);
        if (count == null) {
            counts.put(kind, new AtomicInteger(1));
            return kinds.incrementAndGet() <= FIRST;
        }
        long times = count.incrementAndGet();
        return times >= OFTEN && times * SHARE >= all;
    }
}
