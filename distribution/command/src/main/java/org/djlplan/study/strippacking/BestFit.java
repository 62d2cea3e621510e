package org.djlplan.study.strippacking;

import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;

/**
 * Strip Packing Best-Fit (Sekiyama, Imamichi, Imai and Raymond 2018, <a
 * href="https://arxiv.org/abs/1804.10001">Profile-guided memory optimization for deep neural
 * networks</a>, section 3.2; after Burke, Kendall and Whitwell 2004).
 *
 * <ol>
 *   <li>Take the lowest offset line.
 *   <li>Of the units whose interval lies within the line, put the longest on it; ties by size,
 *       larger first, then by tensor id.
 *   <li>If there is none, lift the line to its lower neighbour and merge lines at one offset.
 * </ol>
 *
 * <p>Any line that is lower than both neighbours may be taken, because such lines do not affect
 * each other: so this is one pass of {@link Filling}, whatever the slack.
 */
public final class BestFit implements OffsetStrategy {

    @Override
    public String name() {
        return "best-fit";
    }

    @Override
    public int largestProblem() {
        return 100_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        MomentTable timeline = new MomentTable(problem.units());
        int[] order = timeline.sorted(UnitOrders::byLength);
        int[] priorities = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            priorities[order[i]] = order.length - i;
        }
        Filling filling = Filling.of(timeline, new Filling.Priorities(priorities, Long.MIN_VALUE));
        return OffsetPlan.ofUnits(name(), problem, filling.layout().byUnit());
    }
}
