package org.djlplan.study.search;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Limits of a search.
 *
 * @param nodes limit of examined partial plans
 * @param time time limit; without one, the result is deterministic
 * @param capacityBytes the search ends at a plan that fits; without it, the search minimizes the
 *     arena
 */
public record SearchLimits(long nodes, Optional<Duration> time, OptionalLong capacityBytes) {

    public SearchLimits {
        checkArgument(nodes > 0, "%s nodes", nodes);
        time.ifPresent(t -> checkArgument(!t.isNegative(), "a time of %s", t));
        capacityBytes.ifPresent(c -> checkArgument(c >= 0, "a capacity of %s bytes", c));
    }

    /** Limited by nodes only. */
    public static SearchLimits ofNodes(long nodes) {
        return new SearchLimits(nodes, Optional.empty(), OptionalLong.empty());
    }

    /** Limited by time only. */
    public static SearchLimits ofTime(Duration time) {
        return new SearchLimits(Long.MAX_VALUE, Optional.of(time), OptionalLong.empty());
    }

    /** Returns these limits for a search that only has to fit a capacity. */
    public SearchLimits withCapacityBytes(long bytes) {
        return new SearchLimits(nodes, time, OptionalLong.of(bytes));
    }
}
