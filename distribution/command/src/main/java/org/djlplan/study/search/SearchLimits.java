package org.djlplan.study.search;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Limits of a search, and its number of threads.
 *
 * @param nodes limit of examined partial plans, over all threads
 * @param time time limit; without one, the result of a search with one thread is deterministic
 * @param threads number of threads
 * @param capacityBytes the search ends at a plan that fits; without it, the search minimizes the
 *     arena
 */
public record SearchLimits(
        long nodes, Optional<Duration> time, int threads, OptionalLong capacityBytes) {

    public SearchLimits {
        checkArgument(nodes > 0, "%s nodes", nodes);
        checkArgument(threads > 0, "%s threads", threads);
        time.ifPresent(t -> checkArgument(!t.isNegative(), "a time of %s", t));
        capacityBytes.ifPresent(c -> checkArgument(c >= 0, "a capacity of %s bytes", c));
    }

    /** Returns limits with one thread and a number of nodes: the result is deterministic. */
    public static SearchLimits ofNodes(long nodes) {
        return new SearchLimits(nodes, Optional.empty(), 1, OptionalLong.empty());
    }

    /** Limited by time only. */
    public static SearchLimits ofTime(Duration time, int threads) {
        return new SearchLimits(Long.MAX_VALUE, Optional.of(time), threads, OptionalLong.empty());
    }

    /** Returns these limits for a search that only has to fit a capacity. */
    public SearchLimits withCapacityBytes(long bytes) {
        return new SearchLimits(nodes, time, threads, OptionalLong.of(bytes));
    }
}
