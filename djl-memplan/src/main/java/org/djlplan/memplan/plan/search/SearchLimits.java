package org.djlplan.memplan.plan.search;

import static com.google.common.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Limits of a search: when it ends at the latest, and how many threads it uses.
 *
 * @param nodes how many partial plans are looked at, by all threads together
 * @param time how long it may take; without, a search by one thread always ends the same
 * @param threads how many threads search
 * @param capacityBytes the search ends at a plan that fits into it; without, it minimises the arena
 */
public record SearchLimits(
        long nodes, Optional<Duration> time, int threads, OptionalLong capacityBytes) {

    public SearchLimits {
        checkArgument(nodes > 0, "%s nodes", nodes);
        checkArgument(threads > 0, "%s threads", threads);
        time.ifPresent(t -> checkArgument(!t.isNegative(), "a time of %s", t));
        capacityBytes.ifPresent(c -> checkArgument(c >= 0, "a capacity of %s bytes", c));
    }

    /** One thread, limited by nodes only: the same result each time. */
    public static SearchLimits ofNodes(long nodes) {
        return new SearchLimits(nodes, Optional.empty(), 1, OptionalLong.empty());
    }

    /** Limited by time only. */
    public static SearchLimits ofTime(Duration time, int threads) {
        return new SearchLimits(Long.MAX_VALUE, Optional.of(time), threads, OptionalLong.empty());
    }

    /** Returns the same limits for a search that only has to fit a capacity. */
    public SearchLimits withCapacityBytes(long bytes) {
        return new SearchLimits(nodes, time, threads, OptionalLong.of(bytes));
    }
}
