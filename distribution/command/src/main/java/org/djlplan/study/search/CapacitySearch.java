package org.djlplan.study.search;

import java.util.Arrays;
import java.util.Comparator;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Depth-first search for a plan that fits into a capacity.
 *
 * <p>Any plan can be pushed down until every unit lies on the arena's floor or on another unit. The
 * search decides, section by section, which remaining unit is the lowest: one that lies directly on
 * the section's floor, or none, in which case the floor rises. These cases exclude each other, so
 * the search reaches no partial plan twice.
 *
 * <p>The section to decide is in a valley of the skyline, so that a unit directly on its floor
 * leaves no gap below it. Of all sections in valleys, at any height, it is the one with the fewest
 * candidates, weighted by how often attempts failed there (after Boussemart et al. 2004, dom/wdeg).
 * A state that was found impossible is not tried again.
 */
final class CapacitySearch {

    /** The end of a run. */
    enum Outcome {
        FOUND,
        IMPOSSIBLE,
        STOPPED
    }

    /** Number of nodes between two checks of the clock. */
    private static final int NODES_BETWEEN_CHECKS = 64;

    private final Sections sections;
    private final PartialPlan partial;
    private final FailedStates failed = new FailedStates();
    private final BooleanSupplier stop;

    /** Per unit: its lowest possible offset. */
    private final long[] least;

    /** Per section: the least offset of a remaining unit. */
    private final long[] lowest;

    /** Per section: the number of units that may lie directly on its floor. */
    private final int[] candidates;

    /** Per section: how often attempts failed there. */
    private final long[] failures;

    private Comparator<Integer> order = Comparator.naturalOrder();
    private long capacity;
    private long nodesLeft;
    private long nodes;

    CapacitySearch(Sections sections, BooleanSupplier stop) {
        this.sections = sections;
        this.stop = stop;
        partial = new PartialPlan(sections);
        least = new long[sections.units];
        lowest = new long[sections.count];
        candidates = new int[sections.count];
        failures = new long[sections.count];
    }

    /** Returns the number of partial plans that all runs examined. */
    long nodes() {
        return nodes;
    }

    /** Returns the offset of every unit after a run that found a plan. */
    long[] offsets() {
        return partial.offset.clone();
    }

    /**
     * Searches.
     *
     * @param candidateOrder in which candidates for a place are tried
     * @param mostNodes limit of examined partial plans
     */
    Outcome run(long capacityBytes, Comparator<Integer> candidateOrder, long mostNodes) {
        if (capacityBytes > capacity) {
            failed.clear();
        }
        capacity = capacityBytes;
        order = candidateOrder;
        nodesLeft = mostNodes;
        return search(IntStream.range(0, sections.units).toArray());
    }

    private Outcome search(int[] units) {
        if (nodesLeft-- <= 0 || (nodes++ % NODES_BETWEEN_CHECKS == 0 && stop.getAsBoolean())) {
            return Outcome.STOPPED;
        }
        int mark = partial.mark();
        OptionalInt section = decide(units);
        Outcome outcome = Outcome.IMPOSSIBLE;
        if (section.isPresent()) {
            FailedStates.Key key = key(units);
            if (!failed.contains(key)) {
                outcome = branch(units, section);
                if (outcome == Outcome.IMPOSSIBLE) {
                    failed.remember(key);
                }
            }
        }
        partial.undo(mark);
        return outcome;
    }

    /** The future depends only on the remaining units and the floors below them. */
    private FailedStates.Key key(int[] units) {
        long high = 1;
        long low = 1;
        for (int unit : units) {
            long fact = FailedStates.hash(unit, -1);
            high += fact;
            low += FailedStates.mix(fact);
        }
        for (int s = 0; s < sections.count; s++) {
            if (partial.open[s] > 0) {
                long fact = FailedStates.hash(sections.units + (long) s, partial.floor[s]);
                high += fact;
                low += FailedStates.mix(fact);
            }
        }
        return new FailedStates.Key(high, low);
    }

    private Outcome branch(int[] units, OptionalInt first) {
        OptionalInt next = first;
        while (next.isPresent()) {
            int section = next.getAsInt();
            for (int unit : candidates(section)) {
                int mark = partial.mark();
                partial.place(unit, partial.floor[section]);
                Outcome outcome = descend(units, unit);
                partial.remove(unit, mark);
                if (outcome != Outcome.IMPOSSIBLE) {
                    return outcome;
                }
            }
            partial.raise(section, aboveFloor(section));
            next = decide(units);
        }
        return Outcome.IMPOSSIBLE;
    }

    /** Returns the units that may lie directly on a section's floor, in order of preference. */
    private int[] candidates(int section) {
        return Arrays.stream(sections.members[section])
                .filter(unit -> !partial.placed[unit] && least[unit] == partial.floor[section])
                .boxed()
                .sorted(order)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private Outcome descend(int[] units, int placed) {
        int[] left = Arrays.stream(units).filter(unit -> unit != placed).toArray();
        return left.length == 0 ? Outcome.FOUND : search(left);
    }

    /**
     * Raises floors as far as they follow from each other, and returns the section to decide next;
     * empty if the remaining units cannot fit into the capacity.
     */
    private OptionalInt decide(int[] units) {
        do {
            for (int s = 0; s < sections.count; s++) {
                if (partial.open[s] > 0 && partial.floor[s] > capacity - partial.open[s]) {
                    failures[s]++;
                    return OptionalInt.empty();
                }
            }
            for (int unit : units) {
                least[unit] = partial.highestFloor(unit);
                if (least[unit] > capacity - sections.bytes[unit]) {
                    failures[sections.first[unit]]++;
                    return OptionalInt.empty();
                }
            }
        } while (raise(units));
        return OptionalInt.of(next());
    }

    /**
     * Raises floors to the lowest offset of any remaining unit; returns whether any floor was
     * lower. Counts the candidates of each section.
     */
    private boolean raise(int[] units) {
        Arrays.fill(lowest, Long.MAX_VALUE);
        Arrays.fill(candidates, 0);
        for (int unit : units) {
            for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
                lowest[s] = Math.min(lowest[s], least[unit]);
                candidates[s] += least[unit] == partial.floor[s] ? 1 : 0;
            }
        }
        boolean raised = false;
        for (int s = 0; s < sections.count; s++) {
            if (partial.open[s] > 0 && lowest[s] > partial.floor[s]) {
                partial.raise(s, lowest[s]);
                raised = true;
            }
        }
        return raised;
    }

    /**
     * Returns the section to decide next, one of a valley: a run of sections with one floor, with
     * higher floors on both sides. A unit right on the floor of a valley lies within the valley, so
     * it lies on all of its sections' floors.
     */
    private int next() {
        int best = -1;
        int from = 0;
        while (from < sections.count) {
            if (partial.open[from] == 0) {
                from++;
                continue;
            }
            int to = from;
            while (to + 1 < sections.count
                    && partial.open[to + 1] > 0
                    && partial.floor[to + 1] == partial.floor[from]) {
                to++;
            }
            if (isWall(from - 1, from) && isWall(to + 1, from)) {
                for (int s = from; s <= to; s++) {
                    if (best < 0 || isBetter(s, best)) {
                        best = s;
                    }
                }
            }
            from = to + 1;
        }
        return best;
    }

    private boolean isWall(int beside, int valley) {
        return beside < 0
                || beside == sections.count
                || partial.open[beside] == 0
                || partial.floor[beside] > partial.floor[valley];
    }

    private boolean isBetter(int section, int than) {
        return candidates[section] * (1.0 + failures[than])
                < candidates[than] * (1.0 + failures[section]);
    }

    /**
     * Returns the lowest height at which the lowest remaining unit of a section can lie if it does
     * not lie on the section's floor: on a higher floor, or on a unit beside the section.
     */
    private long aboveFloor(int section) {
        long found = Long.MAX_VALUE;
        for (int unit : sections.members[section]) {
            if (!partial.placed[unit]) {
                long offset = partial.highestFloor(unit);
                found =
                        Math.min(
                                found,
                                offset > partial.floor[section]
                                        ? offset
                                        : lowestTopBeside(unit, section));
            }
        }
        return found;
    }

    /** Returns the lowest top of a unit that overlaps {@code unit}, but not in {@code section}. */
    private long lowestTopBeside(int unit, int section) {
        long found = Long.MAX_VALUE;
        for (int other : sections.overlaps[unit]) {
            if (!partial.placed[other]
                    && (sections.first[other] > section || sections.last[other] < section)) {
                found = Math.min(found, partial.highestFloor(other) + sections.bytes[other]);
            }
        }
        return found;
    }

    /**
     * Remembers partial plans that cannot be completed, by their remaining units and the floors
     * below these. A newer state replaces an older one with the same index. 128 bits are compared,
     * so that among 10^9 states the chance of a wrong match is below 10^-20.
     */
    private static final class FailedStates {

        /** Number of remembered states, a power of two. */
        private static final int SIZE = 1 << 17;

        /** A hash of a state; the order of its facts does not matter. */
        record Key(long high, long low) {}

        private final Key[] keys = new Key[SIZE];

        /**
         * Removes all states, because a state that failed at one capacity may not fail at a larger
         * one.
         */
        void clear() {
            Arrays.fill(keys, null);
        }

        boolean contains(Key key) {
            return key.equals(keys[(int) key.low & (SIZE - 1)]);
        }

        void remember(Key key) {
            keys[(int) key.low & (SIZE - 1)] = key;
        }

        static long hash(long kind, long value) {
            return mix(kind * 0x9E3779B97F4A7C15L ^ mix(value));
        }

        /** The finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
        static long mix(long value) {
            long z = value + 0x632BE59BD9B4E019L;
            z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            return z ^ (z >>> 31);
        }
    }
}
