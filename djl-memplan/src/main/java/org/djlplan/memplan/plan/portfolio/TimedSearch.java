package org.djlplan.memplan.plan.portfolio;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.plan.search.SearchLimits;
import org.djlplan.memplan.plan.search.SearchResult;

/**
 * The {@link ExactSearch} by one thread, for so long altogether. To be used once: time begins when
 * it is made.
 */
public final class TimedSearch implements PlanImprover {

    private final long endNanos;

    /**
     * @param limit how long all searches may take
     */
    public TimedSearch(Duration limit) {
        endNanos = System.nanoTime() + limit.toNanos();
    }

    @Override
    public Improvement improve(OffsetPlan incumbent, OptionalLong enoughBytes) {
        long leftNanos = endNanos - System.nanoTime();
        SearchLimits limits =
                new SearchLimits(
                        Long.MAX_VALUE,
                        Optional.of(Duration.ofNanos(Math.max(0, leftNanos))),
                        1,
                        enoughBytes);
        ExactSearch search = new ExactSearch(limits);
        if (leftNanos <= 0
                || Thread.currentThread().isInterrupted()
                || !search.admits(incumbent.problem())) {
            return new Improvement(incumbent, false);
        }
        SearchResult result = search.improve(incumbent);
        return new Improvement(result.plan(), result.provedMinimal());
    }
}
