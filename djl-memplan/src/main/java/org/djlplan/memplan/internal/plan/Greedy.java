package org.djlplan.memplan.internal.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.usage.BreadthOrder;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Greedy strategies. */
public final class Greedy {

    /**
     * Greedy by Size for offset calculation (Pisarchyk and Lee 2020, section 5.2, Algorithm 3):
     * units by size, largest first, ties by tensor id; each into the smallest gap that fits,
     * otherwise after the rightmost overlapping unit.
     */
    public static final OffsetStrategy BY_SIZE =
            new OffsetStrategy(
                    "greedy-by-size", 150_000, problem -> PlacedUnits.inOrder(bySize(problem)));

    /**
     * Greedy by Breadth for offset calculation (Pisarchyk and Lee 2020, section 5.3): units in
     * {@link BreadthOrder}, placed as in {@link #BY_SIZE}.
     */
    public static final OffsetStrategy BY_BREADTH =
            new OffsetStrategy(
                    "greedy-by-breadth",
                    50_000,
                    problem -> PlacedUnits.inOrder(BreadthOrder.of(problem.units())));

    /**
     * Repeats Greedy by Size with other orders: units that end above the lower bound come first in
     * the next pass, otherwise the order stays. This is squeaky wheel optimization (Joslin and
     * Clements 1999). The best pass counts.
     *
     * <p>All real models that {@link #BY_SIZE} leaves above the lower bound reach it within ten
     * passes. There are at most 32 passes, and fewer for more than 1,700 units, because the time of
     * a pass is O(n²) for n units.
     */
    public static final OffsetStrategy REPEATED =
            new OffsetStrategy("repeated-greedy", 50_000, Greedy::repeated);

    /** Gives every unit its own memory, side by side by tensor id; valid for any problem. */
    public static final OffsetStrategy NAIVE =
            new OffsetStrategy("naive", Integer.MAX_VALUE, true, Greedy::sideBySide);

    private static final int MOST_PASSES = 32;
    private static final long MOST_PAIRS = 100_000_000;

    private Greedy() {}

    private static ImmutableList<UsageRecord> bySize(PlanningProblem problem) {
        return ImmutableList.sortedCopyOf(UnitOrders::bySize, problem.units());
    }

    private static Map<Integer, Long> repeated(PlanningProblem problem) {
        long boundBytes = LowerBounds.offsetBytes(problem.units());
        List<UsageRecord> order = bySize(problem);
        OffsetPlan best = BY_SIZE.plan(problem);
        OffsetPlan latest = best;
        long pairs = (long) order.size() * order.size();
        for (int pass = 1;
                pass < MOST_PASSES && pass * pairs < MOST_PAIRS && best.totalBytes() > boundBytes;
                pass++) {
            order = tooHighFirst(order, latest.unitOffsets(), boundBytes);
            latest = new OffsetPlan(best.strategy(), problem, PlacedUnits.inOrder(order));
            best = latest.totalBytes() < best.totalBytes() ? latest : best;
        }
        return best.unitOffsets();
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

    private static Map<Integer, Long> sideBySide(PlanningProblem problem) {
        Map<Integer, Long> offsets = new HashMap<>();
        long free = 0;
        for (UsageRecord unit : problem.units()) {
            offsets.put(unit.tensor(), free);
            free = UsageRecords.addBytes(free, unit.bytes());
        }
        return offsets;
    }
}
