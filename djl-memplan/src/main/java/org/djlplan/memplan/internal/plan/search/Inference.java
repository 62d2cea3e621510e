package org.djlplan.memplan.internal.plan.search;

import static org.djlplan.memplan.internal.plan.search.Technique.CONFLICT_WEIGHTS;
import static org.djlplan.memplan.internal.plan.search.Technique.DOMINANCE;
import static org.djlplan.memplan.internal.plan.search.Technique.FAIL_FIRST;
import static org.djlplan.memplan.internal.plan.search.Technique.LOCAL_VALLEYS;
import static org.djlplan.memplan.internal.plan.search.Technique.RELEASE_BOUND;
import static org.djlplan.memplan.internal.plan.search.Technique.SUPPORT;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Draws conclusions from a partial plan: the lowest possible offset of each remaining unit, the
 * floors that this raises, whether everything can still fit, and the section to decide next.
 */
final class Inference {

    private final Sections sections;
    private final PartialPlan partial;
    private final boolean releaseBound;
    private final boolean support;
    private final boolean dominance;
    private final boolean localValleys;
    private final boolean failFirst;
    private final boolean conflictWeights;

    /** Per unit: the highest floor of its sections, and its lowest possible offset. */
    private final long[] highestFloor;

    private final long[] least;

    /** Per section: sizes that cannot start lower; then the lowest offset of a member. */
    private final long[] above;

    /** Per section: the number of units that may lie directly on its floor. */
    private final int[] candidates;

    /** Per section: how often attempts failed there. */
    private final long[] failures;

    Inference(PartialPlan partial, Set<Technique> techniques) {
        this.partial = partial;
        sections = partial.sections;
        releaseBound = techniques.contains(RELEASE_BOUND);
        support = techniques.contains(SUPPORT);
        dominance = techniques.contains(DOMINANCE);
        localValleys = techniques.contains(LOCAL_VALLEYS);
        failFirst = techniques.contains(FAIL_FIRST);
        conflictWeights = techniques.contains(CONFLICT_WEIGHTS);
        highestFloor = new long[sections.units];
        least = new long[sections.units];
        above = new long[sections.count];
        candidates = new int[sections.count];
        failures = new long[sections.count];
    }

    /** Returns the lowest possible offset of a unit, as of the last {@link #decide}. */
    long leastOffset(int unit) {
        return least[unit];
    }

    /** Returns whether no placed unit supports a unit at its lowest offset. */
    boolean lacksSupport(int unit) {
        return highestFloor[unit] > partial.support[unit];
    }

    /**
     * Raises floors as far as they follow from each other, and returns the section to decide next;
     * empty if the part cannot fit into the capacity. Sorts the part's units by least offset,
     * highest first.
     */
    OptionalInt decide(PartialPlan.Part part, long capacity) {
        do {
            if (!bound(part, capacity) || (releaseBound && !releaseBound(part, capacity))) {
                return OptionalInt.empty();
            }
        } while (raise(part));
        return OptionalInt.of(valley(part));
    }

    private boolean bound(PartialPlan.Part part, long capacity) {
        for (int s = part.from(); s <= part.to(); s++) {
            if (partial.open[s] > 0 && partial.floor[s] + partial.open[s] > capacity) {
                failures[s]++;
                return false;
            }
        }
        for (int unit : part.units()) {
            highestFloor[unit] = partial.highestFloor(unit);
            if (dominance
                    && partial.support[unit] + sections.bytes[unit] <= partial.lowestFloor(unit)) {
                return false;
            }
        }
        for (int unit : part.units()) {
            long offset = lacksSupport(unit) ? onUnplaced(unit) : highestFloor[unit];
            if (offset > capacity - sections.bytes[unit]) {
                failures[sections.first[unit]]++;
                return false;
            }
            least[unit] = offset;
        }
        sort(part.units());
        return true;
    }

    /** Returns the lowest offset of a unit that must lie on an unplaced one. */
    private long onUnplaced(int unit) {
        if (!support) {
            return highestFloor[unit];
        }
        long lowestTop = Long.MAX_VALUE;
        for (int other : sections.overlaps[unit]) {
            if (!partial.placed[other]) {
                lowestTop = Math.min(lowestTop, highestFloor[other] + sections.bytes[other]);
            }
        }
        return Math.max(highestFloor[unit], lowestTop);
    }

    /** Sorts by lowest offset, highest first; the units are nearly sorted by the last call. */
    private void sort(int[] units) {
        for (int i = 1; i < units.length; i++) {
            int unit = units[i];
            int j = i;
            for (; j > 0 && least[units[j - 1]] < least[unit]; j--) {
                units[j] = units[j - 1];
            }
            units[j] = unit;
        }
    }

    private boolean releaseBound(PartialPlan.Part part, long capacity) {
        Arrays.fill(above, part.from(), part.to() + 1, 0);
        for (int unit : part.units()) {
            long most = capacity - least[unit];
            for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
                above[s] += sections.bytes[unit];
                if (above[s] > most) {
                    failures[s]++;
                    return false;
                }
            }
        }
        return true;
    }

    /** Raises floors to the lowest offset of any member; returns whether any floor was lower. */
    private boolean raise(PartialPlan.Part part) {
        Arrays.fill(above, part.from(), part.to() + 1, -1);
        Arrays.fill(candidates, part.from(), part.to() + 1, 0);
        for (int i = part.units().length - 1; i >= 0; i--) {
            int unit = part.units()[i];
            for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
                if (above[s] < 0) {
                    above[s] = least[unit];
                }
                if (least[unit] == partial.floor[s]) {
                    candidates[s]++;
                }
            }
        }
        boolean raised = false;
        for (int s = part.from(); s <= part.to(); s++) {
            if (above[s] > partial.floor[s]) {
                partial.raise(s, above[s]);
                raised = true;
            }
        }
        return raised;
    }

    /**
     * Returns a section of a valley: a run of sections with one floor, with higher floors on both
     * sides. A unit right on the floor of a valley lies within the valley, so it lies on all of its
     * sections' floors.
     */
    private int valley(PartialPlan.Part part) {
        int best = -1;
        int from = part.from();
        while (from <= part.to()) {
            if (partial.open[from] == 0) {
                from++;
                continue;
            }
            int to = from;
            while (to < part.to()
                    && partial.open[to + 1] > 0
                    && partial.floor[to + 1] == partial.floor[from]) {
                to++;
            }
            if (isWall(part, from - 1, from) && isWall(part, to + 1, from)) {
                for (int s = from; s <= to; s++) {
                    if (best < 0 || better(s, best)) {
                        best = s;
                    }
                }
            }
            from = to + 1;
        }
        return best;
    }

    private boolean isWall(PartialPlan.Part part, int beside, int valley) {
        return beside < part.from()
                || beside > part.to()
                || partial.open[beside] == 0
                || partial.floor[beside] > partial.floor[valley];
    }

    private boolean better(int section, int than) {
        if (!localValleys && partial.floor[section] != partial.floor[than]) {
            return partial.floor[section] < partial.floor[than];
        }
        double weight = failFirst ? candidates[section] : 1;
        double other = failFirst ? candidates[than] : 1;
        if (conflictWeights) {
            weight *= 1.0 + failures[than];
            other *= 1.0 + failures[section];
        }
        return weight < other;
    }

    /**
     * Returns the lowest height of the lowest remaining unit in a section if it does not lie on the
     * section's floor; the floors are those of the last {@link #decide}, unless no height is left.
     * Empty if there is none.
     */
    OptionalLong aboveFloor(int section) {
        long lowest = Long.MAX_VALUE;
        for (int unit : sections.members[section]) {
            if (!partial.placed[unit]) {
                long offset = partial.highestFloor(unit);
                lowest =
                        Math.min(
                                lowest,
                                offset > partial.floor[section]
                                        ? offset
                                        : lowestTopBeside(unit, section));
            }
        }
        return lowest == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(lowest);
    }

    /** Returns the lowest top of a unit that overlaps {@code unit}, but not in {@code section}. */
    private long lowestTopBeside(int unit, int section) {
        long lowest = Long.MAX_VALUE;
        for (int other : sections.overlaps[unit]) {
            if (!partial.placed[other]
                    && (sections.first[other] > section || sections.last[other] < section)) {
                lowest = Math.min(lowest, partial.highestFloor(other) + sections.bytes[other]);
            }
        }
        return lowest;
    }
}
