package org.djlplan.memplan.plan.strip;

import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * A skyline as its offset lines: maximal spans of time in which it is level, ordered both by time
 * and by offset. Every operation takes O(log n) time; n placed units make at most 2n + 1 lines, so
 * there are O(n) operations in all.
 */
final class OffsetLines {

    /**
     * A span of time and the offset at which the skyline runs there.
     *
     * @param first first operator of the span
     * @param last last operator of the span, inclusive
     * @param offsetBytes the skyline's offset
     */
    record Line(int first, int last, long offsetBytes) {}

    private final NavigableMap<Integer, Line> byTime = new TreeMap<>();
    private final NavigableSet<Line> byOffset =
            new TreeSet<>(
                    Comparator.comparingLong(Line::offsetBytes).thenComparingInt(Line::first));

    /** One line at offset 0 over the whole time of {@code units}; none without units. */
    OffsetLines(Collection<UsageRecord> units) {
        if (!units.isEmpty()) {
            int first = units.stream().mapToInt(UsageRecord::first).min().orElseThrow();
            int last = units.stream().mapToInt(UsageRecord::last).max().orElseThrow();
            add(new Line(first, last, 0));
        }
    }

    /** Returns the lowest line, the leftmost of equals. */
    Line lowest() {
        return byOffset.first();
    }

    /**
     * Puts a unit on a line that its interval lies within.
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

    /** Raises a line, which is not the only one, to its lower neighbour. */
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

    /** Adds a line, together with a neighbour at the same offset on either side. */
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
