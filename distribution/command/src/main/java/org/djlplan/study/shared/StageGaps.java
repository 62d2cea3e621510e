package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * One stage of {@link GreedyBySizeImproved}, which joins units and gaps of objects, nearest first.
 *
 * <p>The unit nearest to the left end of a gap is the first one, in the order of first operators,
 * that starts in the gap and ends before the gap does; a {@link LeftmostBelow} over the last
 * operators finds it in O(log n). The right end is the mirror image. A queue holds the best pair of
 * every gap. A pair whose unit was placed elsewhere is replaced when the pair reaches the head of
 * the queue. A unit lies in at most one gap of each object, so there are at most k replacements per
 * unit for k objects: O(k n log n).
 */
final class StageGaps {

    /**
     * A time in which an object is free.
     *
     * @param object number of the object
     * @param after last operator before the gap that uses the object; −1 if there is none
     * @param before first operator after the gap that uses the object; {@link #NEVER} if there is
     *     none
     */
    record Gap(int object, long after, long before) {

        static final long NEVER = Integer.MAX_VALUE + 1L;

        /** Returns the time before {@code unit}, which lies in this gap. */
        Gap beforeUnit(UsageRecord unit) {
            return new Gap(object, after, unit.first());
        }

        /** Returns the time after {@code unit}, which lies in this gap. */
        Gap afterUnit(UsageRecord unit) {
            return new Gap(object, unit.last(), before);
        }
    }

    private record Pair(Gap gap, UsageRecord unit, int index, long idle) {}

    private static final Comparator<Pair> NEAREST =
            Comparator.comparingLong(Pair::idle)
                    .thenComparing(Pair::unit, UnitOrders::bySize)
                    .thenComparingInt(pair -> pair.gap.object());

    /** The units of the stage, largest first. */
    private final ImmutableList<UsageRecord> units;

    private final boolean[] placed;
    private final Side left;
    private final Side right;
    private final Set<Gap> gaps;
    private final PriorityQueue<Pair> pairs = new PriorityQueue<>(NEAREST);

    /** The units, ordered as seen from one end of a gap. */
    private record Side(int[] order, int[] positions, long[] starts, LeftmostBelow ends) {

        /** Operators are counted upwards from that end of the gap. */
        static Side of(long[] starts, long[] ends) {
            int[] order =
                    IntStream.range(0, starts.length)
                            .boxed()
                            .sorted(Comparator.comparingLong(i -> starts[i]))
                            .mapToInt(Integer::intValue)
                            .toArray();
            int[] positions = new int[order.length];
            for (int i = 0; i < order.length; i++) {
                positions[order[i]] = i;
            }
            return new Side(
                    order,
                    positions,
                    Arrays.stream(order).mapToLong(i -> starts[i]).toArray(),
                    new LeftmostBelow(Arrays.stream(order).mapToLong(i -> ends[i]).toArray()));
        }

        /**
         * Returns the first unit that starts at {@code from} or later and ends before {@code to}.
         */
        OptionalInt nearest(long from, long to) {
            int position = 0;
            for (int end = starts.length; position < end; ) {
                int middle = (position + end) >>> 1;
                if (starts[middle] < from) {
                    position = middle + 1;
                } else {
                    end = middle;
                }
            }
            OptionalInt at = ends.find(position, to);
            return at.isPresent() ? OptionalInt.of(order[at.getAsInt()]) : at;
        }

        void remove(int index) {
            ends.remove(positions[index]);
        }
    }

    /**
     * @param units the units of the stage, largest first, ties by tensor id
     * @param gaps free times of the objects opened so far
     */
    StageGaps(List<UsageRecord> units, List<Gap> gaps) {
        this.units = ImmutableList.copyOf(units);
        this.gaps = new LinkedHashSet<>(gaps);
        placed = new boolean[units.size()];
        long[] first = units.stream().mapToLong(UsageRecord::first).toArray();
        long[] last = units.stream().mapToLong(UsageRecord::last).toArray();
        left = Side.of(first, last);
        right = Side.of(negated(last), negated(first));
        gaps.forEach(this::queue);
    }

    private static long[] negated(long[] numbers) {
        return Arrays.stream(numbers).map(number -> -number).toArray();
    }

    /**
     * Gives every unit an object.
     *
     * @param opened number of objects opened so far
     * @param objects receives the object of every unit
     * @return number of objects opened now
     */
    int fill(int opened, ImmutableMap.Builder<Integer, Integer> objects) {
        int count = opened;
        for (int largest = 0; largest < units.size(); ) {
            Pair pair = pairs.poll();
            if (pair == null) {
                if (!placed[largest]) {
                    place(new Gap(count++, -1, Gap.NEVER), largest, objects);
                }
                largest++;
            } else if (placed[pair.index]) {
                queue(pair.gap);
            } else {
                gaps.remove(pair.gap);
                place(pair.gap, pair.index, objects);
            }
        }
        return count;
    }

    /** Returns the free times of the objects. */
    ImmutableList<Gap> gaps() {
        return ImmutableList.copyOf(gaps);
    }

    private void place(Gap gap, int index, ImmutableMap.Builder<Integer, Integer> objects) {
        UsageRecord unit = units.get(index);
        placed[index] = true;
        left.remove(index);
        right.remove(index);
        objects.put(unit.tensor(), gap.object());
        for (Gap rest : List.of(gap.beforeUnit(unit), gap.afterUnit(unit))) {
            if (rest.before() - rest.after() > 1) {
                gaps.add(rest);
                queue(rest);
            }
        }
    }

    /** Queues a gap with the unit nearest to one of its ends, if any. */
    private void queue(Gap gap) {
        OptionalInt afterGap =
                gap.after() < 0 ? OptionalInt.empty() : left.nearest(gap.after() + 1, gap.before());
        OptionalInt beforeGap =
                gap.before() == Gap.NEVER
                        ? OptionalInt.empty()
                        : right.nearest(1 - gap.before(), -gap.after());
        Stream.concat(
                        afterGap.stream()
                                .mapToObj(i -> pair(gap, i, units.get(i).first() - gap.after())),
                        beforeGap.stream()
                                .mapToObj(i -> pair(gap, i, gap.before() - units.get(i).last())))
                .min(NEAREST)
                .ifPresent(pairs::add);
    }

    private Pair pair(Gap gap, int index, long idle) {
        return new Pair(gap, units.get(index), index, idle);
    }

    /**
     * A sequence of numbers that finds the first number below a limit from a position on: a segment
     * tree of minima; O(log n) per query or removal.
     */
    static final class LeftmostBelow {

        private final int leaves;

        /**
         * Node 1 is the root; node i has the children 2i and 2i + 1; a removed leaf is the maximum.
         */
        private final long[] minimum;

        LeftmostBelow(long[] numbers) {
            leaves = Math.max(1, Integer.highestOneBit(Math.max(1, numbers.length - 1)) * 2);
            minimum = new long[2 * leaves];
            Arrays.fill(minimum, Long.MAX_VALUE);
            System.arraycopy(numbers, 0, minimum, leaves, numbers.length);
            for (int node = leaves - 1; node > 0; node--) {
                minimum[node] = Math.min(minimum[2 * node], minimum[2 * node + 1]);
            }
        }

        /** Removes a number; the others keep their positions. */
        void remove(int position) {
            int node = leaves + position;
            minimum[node] = Long.MAX_VALUE;
            for (node /= 2; node > 0; node /= 2) {
                minimum[node] = Math.min(minimum[2 * node], minimum[2 * node + 1]);
            }
        }

        /** Returns the first position, from {@code from} on, of a number below {@code limit}. */
        OptionalInt find(int from, long limit) {
            if (from >= leaves) {
                return OptionalInt.empty();
            }
            int node = leaves + from;
            while (minimum[node] >= limit) {
                // Go up while this is the last child, then to the next sibling.
                while ((node & 1) == 1) {
                    node /= 2;
                }
                if (node == 0) {
                    return OptionalInt.empty();
                }
                node++;
            }
            while (node < leaves) {
                node = minimum[2 * node] < limit ? 2 * node : 2 * node + 1;
            }
            return OptionalInt.of(node - leaves);
        }
    }
}
