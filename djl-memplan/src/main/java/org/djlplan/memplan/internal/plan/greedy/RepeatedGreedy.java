package org.djlplan.memplan.internal.plan.greedy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * Repeats Greedy by Size with other orders: units that end above the lower bound come first in the
 * next pass, otherwise the order stays. This is squeaky wheel optimization (Joslin and Clements
 * 1999). The best pass counts.
 *
 * <p>All real models that {@link GreedyBySize} leaves above the lower bound reach it within ten
 * passes. There are at most {@value #MOST_PASSES} passes, and fewer for more than 1,700 units,
 * because the time of a pass is O(n²) for n units.
 */
public final class RepeatedGreedy implements OffsetStrategy {

    private static final int MOST_PASSES = 32;
    private static final long MOST_PAIRS = 100_000_000;

    @Override
    public String name() {
        return "repeated-greedy";
    }

    @Override
    public int largestProblem() {
        return 50_000;
    }

    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        long boundBytes = LowerBounds.offsetBytes(problem.units());
        List<UsageRecord> order = new ArrayList<>(problem.units());
        order.sort(UnitOrders::bySize);
        OffsetPlan best = pass(problem, order);
        OffsetPlan latest = best;
        long pairs = (long) order.size() * order.size();
        for (int pass = 1;
                pass < MOST_PASSES && pass * pairs < MOST_PAIRS && best.totalBytes() > boundBytes;
                pass++) {
            order = tooHighFirst(order, latest.unitOffsets(), boundBytes);
            latest = pass(problem, order);
            best = latest.totalBytes() < best.totalBytes() ? latest : best;
        }
        return best;
    }

    private OffsetPlan pass(PlanningProblem problem, List<UsageRecord> order) {
        return new OffsetPlan(name(), problem, PlacedUnits.inOrder(order));
    }

    private static List<UsageRecord> tooHighFirst(
            List<UsageRecord> order, Map<Integer, Long> offsets, long boundBytes) {
        List<UsageRecord> next = new ArrayList<>();
        List<UsageRecord> others = new ArrayList<>();
        for (UsageRecord unit : order) {
            boolean tooHigh = offsets.get(unit.tensor()) + unit.bytes() > boundBytes;
            (tooHigh ? next : others).add(unit);
        }
        next.addAll(others);
        return next;
    }
}
