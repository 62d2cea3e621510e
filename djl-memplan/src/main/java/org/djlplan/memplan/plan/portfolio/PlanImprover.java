package org.djlplan.memplan.plan.portfolio;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.plan.search.SearchLimits;
import org.djlplan.memplan.plan.search.SearchResult;

/** A search for a smaller plan of the same problem. */
@FunctionalInterface
public interface PlanImprover {

    /**
     * The result of a search.
     *
     * @param plan the smallest plan known, perhaps the one that was given
     * @param provedMinimal whether no plan of its problem is smaller
     */
    record Improvement(OffsetPlan plan, boolean provedMinimal) {}

    /**
     * Returns the smallest plan found; ends early when the thread is interrupted, which it then
     * still is.
     *
     * @param incumbent a valid plan
     * @param enoughBytes a plan that fits into this is as good as any; without, the smallest is
     *     wanted
     */
    Improvement improve(OffsetPlan incumbent, OptionalLong enoughBytes);

    /**
     * Returns the {@link ExactSearch} by one thread. It is for one plan: its time begins now.
     *
     * @param limit the time for all searches together
     */
    static PlanImprover within(Duration limit) {
        long endNanos = System.nanoTime() + limit.toNanos();
        return (incumbent, enoughBytes) -> {
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
        };
    }
}
