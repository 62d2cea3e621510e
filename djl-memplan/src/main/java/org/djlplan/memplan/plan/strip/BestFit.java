package org.djlplan.memplan.plan.strip;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.OptionalInt;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Strip Packing Best-Fit (Sekiyama, Imamichi, Imai and Raymond 2018, <a
 * href="https://arxiv.org/abs/1804.10001">Profile-guided memory optimization for deep neural
 * networks</a>, section 3.2; after Burke, Kendall and Whitwell 2004).
 *
 * <ol>
 *   <li>Take the lowest offset line, the leftmost of equals.
 *   <li>Of the units whose interval lies within the line, put the longest on it; ties by size,
 *       larger first, then by tensor id.
 *   <li>If there is none, lift the line to its lower neighbour and merge lines at one offset.
 * </ol>
 *
 * <p>O(n log² n) time and O(n log n) memory for n units: every turn places a unit or merges two
 * lines, so there are O(n); lines are ordered by offset in a balanced tree, and candidates are
 * found in a range tree.
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
        ImmutableList<UsageRecord> units =
                ImmutableList.sortedCopyOf(LongestFirst.ORDER, problem.units());
        Candidates candidates = new Candidates(units);
        OffsetLines lines = new OffsetLines(units);
        ImmutableMap.Builder<Integer, Long> offsets =
                ImmutableMap.builderWithExpectedSize(units.size());
        for (int placed = 0; placed < units.size(); ) {
            OffsetLines.Line line = lines.lowest();
            OptionalInt best = candidates.bestWithin(line.first(), line.last());
            if (best.isPresent()) {
                UsageRecord unit = units.get(best.getAsInt());
                candidates.remove(best.getAsInt());
                lines.place(unit, line);
                offsets.put(unit.tensor(), line.offsetBytes());
                placed++;
            } else {
                lines.lift(line);
            }
        }
        return new OffsetPlan(name(), problem, offsets.buildOrThrow());
    }
}
