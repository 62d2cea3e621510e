package org.djlplan.cli;

import java.time.Duration;
import java.util.Optional;
import org.djlplan.study.search.SearchLimits;
import picocli.CommandLine.Option;

/** The options of the search for a smaller plan, or for a plan that fits. */
final class PlanSearch {

    @Option(
            names = "--capacity",
            paramLabel = "BYTES",
            description =
                    "Search for a plan that fits, not for the smallest; exit with 1 if none"
                            + " is found.")
    private Long capacityBytes;

    @Option(
            names = "--time-limit",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = DurationConverter.class,
            description =
                    "How long to search for a smaller plan if the best one is not proved "
                            + "minimal: 30s, 500ms, or 0s for no search (default: 10s).")
    private Duration timeLimit;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the capacity is negative
     */
    void check() {
        if (capacityBytes != null && capacityBytes < 0) {
            throw new IllegalArgumentException("--capacity must not be negative: " + capacityBytes);
        }
    }

    /**
     * Returns the limits of the search; empty for no search.
     *
     * @param forCapacity whether the search may end with any plan that fits
     */
    Optional<SearchLimits> limits(boolean forCapacity) {
        if (timeLimit.isZero()) {
            return Optional.empty();
        }
        SearchLimits limits =
                SearchLimits.ofTime(timeLimit, Runtime.getRuntime().availableProcessors());
        return Optional.of(
                capacityBytes == null || !forCapacity
                        ? limits
                        : limits.withCapacityBytes(capacityBytes));
    }

    /** Returns by what a plan exceeds the capacity, in one line; empty if it fits. */
    Optional<String> excess(long bytes) {
        return capacityBytes == null || bytes <= capacityBytes
                ? Optional.empty()
                : Optional.of(
                        "the best plan needs "
                                + bytes
                                + " bytes, more than the capacity of "
                                + capacityBytes);
    }
}
