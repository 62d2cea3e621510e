package org.djlplan.study.strippacking;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * The units of a problem in flat arrays, ordered by start, then by tensor id. Time is reduced to
 * the <em>moments</em> that can limit a plan: an operator is a moment if a unit starts at it, and
 * some unit ends before the next unit starts. The units alive at any other operator are all alive
 * at one of the moments.
 */
public final class MomentTable {

    /** Number of moments; at most the number of units. */
    public final int moments;

    /** First moment of each unit. */
    public final int[] from;

    /** The moment after the last of each unit. */
    public final int[] to;

    /** Size of each unit. */
    final long[] bytes;

    /** The index of each unit in the problem's units. */
    public final int[] index;

    /** The problem's units, by tensor id. */
    final List<UsageRecord> units;

    /** Number of units that start before each moment; one entry more than there are moments. */
    final int[] startedBefore;

    /** Breadth at each moment: the total size of live units. */
    final long[] breadthBytes;

    /**
     * @param units by tensor id
     * @throws ArithmeticException if a breadth does not fit into a long
     */
    public MomentTable(List<UsageRecord> units) {
        this.units = units;
        int count = units.size();
        int[] starts = new int[count];
        int[] lasts = new int[count];
        for (int i = 0; i < count; i++) {
            starts[i] = units.get(i).first();
            lasts[i] = units.get(i).last();
        }
        Arrays.sort(starts);
        Arrays.sort(lasts);
        int[] operators = moments(starts, lasts);
        moments = operators.length;
        long[] order = new long[count];
        for (int i = 0; i < count; i++) {
            order[i] = (long) atLeast(operators, units.get(i).first()) << Integer.SIZE | i;
        }
        Arrays.sort(order);
        from = new int[count];
        to = new int[count];
        bytes = new long[count];
        index = new int[count];
        startedBefore = new int[moments + 1];
        for (int i = 0; i < count; i++) {
            index[i] = (int) order[i];
            UsageRecord unit = units.get(index[i]);
            from[i] = (int) (order[i] >>> Integer.SIZE);
            to[i] = atLeast(operators, unit.last() + 1L);
            bytes[i] = unit.bytes();
            startedBefore[from[i] + 1]++;
        }
        for (int i = 0; i < moments; i++) {
            startedBefore[i + 1] += startedBefore[i];
        }
        breadthBytes = breadths();
    }

    /** Returns the maximum breadth in bytes, which is the lower bound. */
    long boundBytes() {
        return breadthBytes.length == 0 ? 0 : Longs.max(breadthBytes);
    }

    /** Returns the number of moments at which {@code unit} is alive. */
    int life(int unit) {
        return to[unit] - from[unit];
    }

    /** Returns the units of this table in another order. */
    int[] sorted(Comparator<UsageRecord> order) {
        return IntStream.range(0, index.length)
                .boxed()
                .sorted((a, b) -> order.compare(units.get(index[a]), units.get(index[b])))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /**
     * Puts each unit on the highest of the units before it that overlap it in time.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    Layout stack(Comparator<UsageRecord> order) {
        long[] skyline = new long[moments];
        long[] offsets = new long[index.length];
        long totalBytes = 0;
        for (int unit : sorted(order)) {
            for (int moment = from[unit]; moment < to[unit]; moment++) {
                offsets[unit] = Math.max(offsets[unit], skyline[moment]);
            }
            long topBytes = UsageRecords.addBytes(offsets[unit], bytes[unit]);
            Arrays.fill(skyline, from[unit], to[unit], topBytes);
            totalBytes = Math.max(totalBytes, topBytes);
        }
        return new Layout(this, offsets, totalBytes);
    }

    /** Returns the starts that are followed by an end before the next start. */
    private static int[] moments(int[] starts, int[] lasts) {
        int[] found = new int[starts.length];
        int count = 0;
        int ended = 0;
        for (int i = 0; i < starts.length; i++) {
            boolean isLast = i + 1 == starts.length;
            if (!isLast && starts[i + 1] == starts[i]) {
                continue;
            }
            while (lasts[ended] < starts[i]) {
                ended++;
            }
            if (isLast || lasts[ended] < starts[i + 1]) {
                found[count++] = starts[i];
            }
        }
        return Arrays.copyOf(found, count);
    }

    /** Returns the number of {@code operators} less than {@code operator}. */
    private static int atLeast(int[] operators, long operator) {
        if (operator > Integer.MAX_VALUE) {
            return operators.length;
        }
        int found = Arrays.binarySearch(operators, (int) operator);
        return found >= 0 ? found : -found - 1;
    }

    private long[] breadths() {
        long[] ended = new long[moments + 1];
        long[] started = new long[moments];
        for (int unit = 0; unit < bytes.length; unit++) {
            started[from[unit]] = UsageRecords.addBytes(started[from[unit]], bytes[unit]);
            ended[to[unit]] = UsageRecords.addBytes(ended[to[unit]], bytes[unit]);
        }
        long[] breadths = new long[moments];
        long breadth = 0;
        for (int moment = 0; moment < moments; moment++) {
            breadth = UsageRecords.addBytes(breadth - ended[moment], started[moment]);
            breadths[moment] = breadth;
        }
        return breadths;
    }

    /**
     * A plan of all units of a timeline.
     *
     * @param offsets offset in bytes of every unit of the timeline; must not be modified
     * @param totalBytes size of the arena
     */
    record Layout(MomentTable timeline, long[] offsets, long totalBytes) {

        /** Returns whether the layout is proved minimal. */
        boolean isMinimal() {
            return totalBytes == timeline.boundBytes();
        }

        /** Returns the offset in bytes of every unit, by tensor id. */
        Map<Integer, Long> byTensor() {
            ImmutableMap.Builder<Integer, Long> result =
                    ImmutableMap.builderWithExpectedSize(offsets.length);
            for (int i = 0; i < offsets.length; i++) {
                result.put(timeline.units.get(timeline.index[i]).tensor(), offsets[i]);
            }
            return result.buildOrThrow();
        }
    }

    /**
     * Finds the units that overlap a unit in time, with a tree ordered by start that stores the
     * last end below each node. Finding k of n units takes O(k log n), or O(k + log n) if they
     * start close together.
     */
    static final class Neighbours {

        private final MomentTable timeline;
        private final int leaves;
        private final int[] lastEnd;

        Neighbours(MomentTable timeline) {
            this.timeline = timeline;
            int count = timeline.to.length;
            leaves = Integer.highestOneBit(Math.max(1, 2 * count - 1));
            lastEnd = new int[2 * leaves];
            System.arraycopy(timeline.to, 0, lastEnd, leaves, count);
            for (int node = leaves - 1; node > 0; node--) {
                lastEnd[node] = Math.max(lastEnd[2 * node], lastEnd[2 * node + 1]);
            }
        }

        /** Passes every unit that overlaps {@code unit}, including itself, to {@code consumer}. */
        void forEach(int unit, IntConsumer consumer) {
            int started = timeline.startedBefore[timeline.to[unit]];
            collect(1, 0, leaves, started, timeline.from[unit], consumer);
        }

        private void collect(
                int node, int low, int high, int started, int endAfter, IntConsumer consumer) {
            if (started <= low || lastEnd[node] <= endAfter) {
                return;
            }
            if (high - low == 1) {
                consumer.accept(low);
                return;
            }
            int middle = (low + high) >>> 1;
            collect(2 * node, low, middle, started, endAfter, consumer);
            collect(2 * node + 1, middle, high, started, endAfter, consumer);
        }
    }
}
