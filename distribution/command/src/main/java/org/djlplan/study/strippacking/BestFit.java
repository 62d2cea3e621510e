package org.djlplan.study.strippacking;

import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Strip Packing Best-Fit (Sekiyama, Imamichi, Imai and Raymond 2018, <a
 * href="https://arxiv.org/abs/1804.10001">Profile-guided memory optimization for deep neural
 * networks</a>, section 3.2; after Burke, Kendall and Whitwell 2004).
 *
 * <ol>
 *   <li>Take the lowest offset line, on a tie the leftmost.
 *   <li>Of the units whose interval lies within the line, put the longest on it; ties by size,
 *       larger first, then by tensor id.
 *   <li>If there is none, lift the line to its lower neighbour and merge lines at one offset.
 * </ol>
 *
 * <p>O(n log² n) time and O(n log n) memory for n units: every turn places a unit or merges two
 * lines, so there are O(n) turns; lines are in a balanced tree by offset, and candidates are found
 * in a range tree.
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
                ImmutableList.sortedCopyOf(UnitOrders::byLength, problem.units());
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

    /**
     * A skyline as its offset lines: maximal time spans of one level, ordered both by time and by
     * offset. Every operation takes O(log n) time; n placed units make at most 2n + 1 lines, so
     * there are O(n) operations.
     */
    private static final class OffsetLines {

        /**
         * A time span and the offset of the skyline there.
         *
         * @param first first operator of the span
         * @param last last operator of the span, inclusive
         * @param offsetBytes the skyline's offset
         */
        record Line(int first, int last, long offsetBytes) {}

        private final NavigableMap<Integer, Line> byTime = new TreeMap<>();
        private final NavigableSet<Line> byOffset =
                new TreeSet<>(
                        (a, b) ->
                                a.offsetBytes != b.offsetBytes
                                        ? Long.compare(a.offsetBytes, b.offsetBytes)
                                        : Integer.compare(a.first, b.first));

        /**
         * Creates one line at offset 0 over the whole time of {@code units}; none without units.
         */
        OffsetLines(Collection<UsageRecord> units) {
            if (!units.isEmpty()) {
                int first = Integer.MAX_VALUE;
                int last = 0;
                for (UsageRecord unit : units) {
                    first = Math.min(first, unit.first());
                    last = Math.max(last, unit.last());
                }
                add(new Line(first, last, 0));
            }
        }

        /** Returns the lowest line, on a tie the leftmost. */
        Line lowest() {
            return byOffset.first();
        }

        /**
         * Puts a unit on a line; the unit's interval must lie within the line.
         *
         * @throws ArithmeticException if the arena does not fit into a long
         */
        void place(UsageRecord unit, Line line) {
            remove(line);
            if (line.first < unit.first()) {
                add(new Line(line.first, unit.first() - 1, line.offsetBytes));
            }
            if (unit.last() < line.last) {
                add(new Line(unit.last() + 1, line.last, line.offsetBytes));
            }
            long topBytes = UsageRecords.addBytes(line.offsetBytes, unit.bytes());
            addMerged(new Line(unit.first(), unit.last(), topBytes));
        }

        /** Raises a line to its lower neighbour; it must not be the only line. */
        void lift(Line line) {
            remove(line);
            long offset = Long.MAX_VALUE;
            Map.Entry<Integer, Line> before = byTime.lowerEntry(line.first);
            if (before != null) {
                offset = before.getValue().offsetBytes;
            }
            Map.Entry<Integer, Line> after = byTime.higherEntry(line.first);
            if (after != null) {
                offset = Math.min(offset, after.getValue().offsetBytes);
            }
            addMerged(new Line(line.first, line.last, offset));
        }

        /** Adds a line, merged with neighbours at the same offset. */
        private void addMerged(Line line) {
            Line merged = line;
            Map.Entry<Integer, Line> before = byTime.lowerEntry(line.first);
            if (before != null && before.getValue().offsetBytes == line.offsetBytes) {
                remove(before.getValue());
                merged = new Line(before.getValue().first, merged.last, line.offsetBytes);
            }
            Map.Entry<Integer, Line> after = byTime.higherEntry(line.first);
            if (after != null && after.getValue().offsetBytes == line.offsetBytes) {
                remove(after.getValue());
                merged = new Line(merged.first, after.getValue().last, line.offsetBytes);
            }
            add(merged);
        }

        private void add(Line line) {
            byTime.put(line.first, line);
            byOffset.add(line);
        }

        private void remove(Line line) {
            byTime.remove(line.first);
            byOffset.remove(line);
        }
    }
}
