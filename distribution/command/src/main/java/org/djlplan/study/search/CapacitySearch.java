package org.djlplan.study.search;

import static org.djlplan.study.search.Technique.DECOMPOSITION;
import static org.djlplan.study.search.Technique.FAILURE_MEMORY;
import static org.djlplan.study.search.Technique.HATLESS;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Depth-first search for a plan that fits into a capacity.
 *
 * <p>Any plan can be pushed down until every unit lies on the arena's floor or on another unit. The
 * search decides, section by section, which remaining unit is the lowest: one that lies directly on
 * the section's floor, or none, in which case the floor rises. These cases exclude each other, so
 * the search reaches no partial plan twice. The section to decide is in a valley of the skyline, so
 * that a unit directly on its floor leaves no gap below it.
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
    private final Inference inference;
    private final FailedStates failed;
    private final BooleanSupplier stop;
    private final boolean hatless;
    private final boolean decomposition;
    private final boolean memory;

    private CandidateOrder order;
    private long capacity;
    private long nodesLeft;
    private long nodes;

    CapacitySearch(
            Sections sections, Set<Technique> techniques, int remembered, BooleanSupplier stop) {
        this.sections = sections;
        this.stop = stop;
        partial = new PartialPlan(sections);
        inference = new Inference(partial, techniques);
        failed = new FailedStates(remembered);
        hatless = techniques.contains(HATLESS);
        decomposition = techniques.contains(DECOMPOSITION);
        memory = techniques.contains(FAILURE_MEMORY);
        order = CandidateOrder.byLength(sections);
    }

    /** Returns the number of partial plans that all runs examined. */
    long nodes() {
        return nodes;
    }

    /** Returns the offset of every unit after a run that found a plan. */
    long[] offsets() {
        return partial.offset.clone();
    }

    /** Searches, examining at most {@code mostNodes} partial plans. */
    Outcome run(long capacityBytes, CandidateOrder candidateOrder, long mostNodes) {
        if (capacityBytes > capacity) {
            failed.clear();
        }
        capacity = capacityBytes;
        this.order = candidateOrder;
        nodesLeft = mostNodes;
        int[] all = IntStream.range(0, sections.units).toArray();
        return parts(new PartialPlan.Part(all, 0, sections.count - 1));
    }

    /** Searches the independent parts of a part, one after another. */
    private Outcome parts(PartialPlan.Part whole) {
        int from = whole.from();
        for (int s = from; s <= whole.to(); s++) {
            if (s == whole.to() || partial.separateAfter(s)) {
                int first = from;
                int last = s;
                int[] inside =
                        Arrays.stream(whole.units())
                                .filter(
                                        unit ->
                                                !partial.placed[unit]
                                                        && sections.first[unit] >= first
                                                        && sections.last[unit] <= last)
                                .toArray();
                if (inside.length > 0) {
                    PartialPlan.Part part = new PartialPlan.Part(inside, first, last);
                    order.enter(part, partial);
                    Outcome outcome = search(part);
                    if (outcome != Outcome.FOUND) {
                        return outcome;
                    }
                }
                from = s + 1;
            }
        }
        return Outcome.FOUND;
    }

    private Outcome search(PartialPlan.Part part) {
        if (nodesLeft-- <= 0 || (nodes++ % NODES_BETWEEN_CHECKS == 0 && stop.getAsBoolean())) {
            return Outcome.STOPPED;
        }
        int mark = partial.mark();
        OptionalInt section = inference.decide(part, capacity);
        Outcome outcome = Outcome.IMPOSSIBLE;
        if (section.isPresent()) {
            key(part);
            long high = failed.high();
            long low = failed.low();
            if (!memory || !failed.contains(high, low)) {
                outcome = branch(part, section);
                if (memory && outcome == Outcome.IMPOSSIBLE) {
                    failed.remember(high, low);
                }
            }
        }
        partial.undo(mark);
        return outcome;
    }

    /**
     * The future of a part depends only on its units, the floors below them, and which units lack
     * support.
     */
    private void key(PartialPlan.Part part) {
        failed.begin();
        for (int unit : part.units()) {
            failed.add(unit, inference.lacksSupport(unit) ? partial.support[unit] : -1);
        }
        for (int s = part.from(); s <= part.to(); s++) {
            if (partial.open[s] > 0) {
                failed.add(sections.units + (long) s, partial.floor[s]);
            }
        }
    }

    private Outcome branch(PartialPlan.Part part, OptionalInt first) {
        OptionalInt next = first;
        while (next.isPresent()) {
            int section = next.getAsInt();
            for (int unit : candidates(section)) {
                int mark = partial.mark();
                boolean lifts = partial.place(unit, partial.floor[section]);
                Outcome outcome = descend(part, unit);
                partial.remove(unit, mark);
                if (outcome != Outcome.IMPOSSIBLE || (hatless && !lifts)) {
                    return outcome;
                }
            }
            OptionalLong height = inference.aboveFloor(section);
            if (height.isEmpty() || height.getAsLong() + partial.open[section] > capacity) {
                return Outcome.IMPOSSIBLE;
            }
            partial.raise(section, height.getAsLong());
            next = inference.decide(part, capacity);
        }
        return Outcome.IMPOSSIBLE;
    }

    /** Returns the units that may lie directly on a section's floor, in order of preference. */
    private int[] candidates(int section) {
        return Arrays.stream(sections.members[section])
                .filter(
                        unit ->
                                !partial.placed[unit]
                                        && inference.leastOffset(unit) == partial.floor[section]
                                        && !inference.lacksSupport(unit))
                .boxed()
                .sorted((a, b) -> order.before(a, b) ? -1 : a.equals(b) ? 0 : 1)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private Outcome descend(PartialPlan.Part part, int placed) {
        if (decomposition && splits(placed)) {
            return parts(part);
        }
        int[] left = new int[part.units().length - 1];
        int count = 0;
        for (int unit : part.units()) {
            if (unit != placed) {
                left[count++] = unit;
            }
        }
        return count == 0
                ? Outcome.FOUND
                : search(new PartialPlan.Part(left, part.from(), part.to()));
    }

    private boolean splits(int placed) {
        for (int s = sections.first[placed]; s < sections.last[placed]; s++) {
            if (partial.separateAfter(s)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Remembers partial plans that cannot be completed, by their remaining units and the floors
     * below these. A newer state replaces an older one with the same index. 128 bits are compared,
     * so that among 10^9 states the chance of a wrong match is below 10^-20.
     */
    private static final class FailedStates {

        private final long[] keys;
        private final int mask;
        private long high;
        private long low;

        /**
         * @param size number of remembered states, a power of two
         */
        FailedStates(int size) {
            keys = new long[2 * size];
            mask = size - 1;
        }

        /**
         * Removes all states, because a state that failed at one capacity may not fail at a larger
         * one.
         */
        void clear() {
            java.util.Arrays.fill(keys, 0);
        }

        /** Begins the key of a state. */
        void begin() {
            high = 1;
            low = 1;
        }

        /** Adds a fact to the key; the order does not matter. */
        void add(long kind, long value) {
            long mixed = mix(kind * 0x9E3779B97F4A7C15L ^ mix(value + 0x632BE59BD9B4E019L));
            high += mixed;
            low += mix(mixed ^ 0xD1B54A32D192ED03L);
        }

        long high() {
            return high;
        }

        long low() {
            return low;
        }

        boolean contains(long high, long low) {
            int at = 2 * ((int) low & mask);
            return keys[at] == high && keys[at + 1] == low;
        }

        void remember(long high, long low) {
            int at = 2 * ((int) low & mask);
            keys[at] = high;
            keys[at + 1] = low;
        }

        /** The finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
        private static long mix(long value) {
            long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            return z ^ (z >>> 31);
        }
    }
}
