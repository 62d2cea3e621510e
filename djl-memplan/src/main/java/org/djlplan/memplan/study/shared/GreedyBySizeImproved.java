package org.djlplan.memplan.study.shared;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.PositionalMaxima;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Greedy by Size Improved (Pisarchyk and Lee 2020, section 4.4): a stage per positional maximum, of
 * the units that are no larger than it but larger than the next. Within a stage, the pair of a unit
 * and an object that leaves the smallest idle gap in time is joined first, of equals the larger
 * unit, then the smaller tensor id, then the lower number of the object. When no object is free for
 * any unit of the stage, its largest gets a new one.
 *
 * <p>TensorFlow Lite's GPU delegate calls this {@code GREEDY_BY_SIZE}; it differs in preferring, of
 * objects that leave equal gaps, the one that came as near first.
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
        List<UsageRecord> bySize =
                ImmutableList.sortedCopyOf(GreedyBySize.LARGEST_FIRST, problem.units());
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
