package org.djlplan.memplan.internal.budget;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.Layout.Fit;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.portfolio.Portfolio;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Plans the smallest arena: every piece is alive only at the steps that use it, and the portfolio
 * that also plans models without a budget places all pieces. Then the pieces move, one by one in
 * order of first use, each to the place with the earliest load that the budget and the other pieces
 * allow. No other strategy here is known to fit into a smaller budget.
 *
 * <p>Sizes are rounded up to whole pages, so that every offset is a multiple of a page.
 */
public final class TightestStrategy implements StreamingStrategy {

    @Override
    public String name() {
        return "tightest";
    }

    @Override
    public Optional<StreamingPlan> plan(StreamingProblem problem, long budgetBytes) {
        OffsetPlan packed = packed(problem);
        if (packed.totalBytes() > budgetBytes) {
            return Optional.empty();
        }
        Layout layout = new Layout(problem, budgetBytes);
        for (int item = 0; item < layout.items(); item++) {
            layout.place(item, layout.first(item), packed.offsetOf(item));
        }
        int loader = 0;
        for (int item = layout.units(); item < layout.items(); item++) {
            layout.remove(item);
            int from = layout.earliest(item, loader);
            layout.tryPlace(item, from, Fit.TIGHTEST);
            loader = Math.max(loader, from);
        }
        return Optional.of(layout.plan(name()));
    }

    /** Returns the size of the smallest arena, which is the smallest budget. */
    static long arenaBytes(StreamingProblem problem) {
        return packed(problem).totalBytes();
    }

    /** Returns the smallest arena, whose tensors are the items of a {@link Layout}. */
    private static OffsetPlan packed(StreamingProblem problem) {
        Layout layout = new Layout(problem, Long.MAX_VALUE);
        ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
        for (int item = 0; item < layout.items(); item++) {
            long bytes = WeightUse.roundUp(layout.bytes(item));
            records.add(new UsageRecord(item, layout.first(item), layout.last(item), bytes));
        }
        return new Portfolio(Portfolio.STRATEGIES, WeightUse.PAGE_BYTES)
                .best(List.of(new PlanningProblem(records.build())))
                .plan();
    }
}
