package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.PositionalMaxima;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Greedy by Size Improved (Pisarchyk and Lee 2020, section 4.4): one stage per positional maximum,
 * for the units that are at most as large as this maximum but larger than the next one. Within a
 * stage, the pair of a unit and an object with the smallest idle gap in time is joined first; ties
 * go to the larger unit, then the smaller tensor id, then the lower number of the object. If no
 * object is free for any unit of the stage, the largest unit gets a new one.
 *
 * <p>TensorFlow Lite's GPU delegate calls this {@code GREEDY_BY_SIZE}; on equal gaps it prefers the
 * object that reached that gap first.
 *
 * <p>O(k n log n) for k objects: see {@link StageGaps}.
 */
public final class GreedyBySizeImproved implements SharedObjectsStrategy {

    @Override
    public String name() {
        return "shared-greedy-by-size-improved";
    }

    @Override
    public int largestProblem() {
        return 50_000;
    }

    @Override
    public SharedObjectsPlan plan(PlanningProblem problem) {
        ImmutableList<Long> maxima = PositionalMaxima.of(problem.units());
        List<UsageRecord> bySize = ImmutableList.sortedCopyOf(UnitOrders::bySize, problem.units());
        ImmutableMap.Builder<Integer, Integer> objects = ImmutableMap.builder();
        List<StageGaps.Gap> gaps = new ArrayList<>();
        int opened = 0;
        int from = 0;
        for (int position = 0; position < maxima.size(); position++) {
            long next = position + 1 < maxima.size() ? maxima.get(position + 1) : 0;
            int to = from;
            while (to < bySize.size() && bySize.get(to).bytes() > next) {
                to++;
            }
            if (from < to) {
                StageGaps stage = new StageGaps(bySize.subList(from, to), gaps);
                opened = stage.fill(opened, objects);
                gaps = stage.gaps();
            }
            from = to;
        }
        return new SharedObjectsPlan(name(), problem, objects.buildOrThrow());
    }
}
