package org.djlplan.study.search;

import static org.djlplan.study.search.Technique.DOMINANCE;
import static org.djlplan.study.search.Technique.RELEASE_BOUND;
import static org.djlplan.study.search.Technique.SUPPORT;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Draws conclusions from a partial plan: the lowest possible offset of each remaining unit, the
 * floors that these offsets raise, and whether everything can still fit.
 */
final class Inference {

    private final Sections sections;
    private final PartialPlan partial;
    private final boolean releaseBound;
    private final boolean support;
    private final boolean dominance;

    /** Per unit: the highest floor of its sections, and its lowest possible offset. */
    private final long[] highestFloor;

    private final long[] least;

    /** Per section: sizes that cannot start lower; then the lowest offset of a member. */
    private final long[] above;

    private final SectionChoice choice;

    Inference(PartialPlan partial, Set<Technique> techniques) {
        this.partial = partial;
        sections = partial.sections;
        releaseBound = techniques.contains(RELEASE_BOUND);
        support = techniques.contains(SUPPORT);
        dominance = techniques.contains(DOMINANCE);
        highestFloor = new long[sections.units];
        least = new long[sections.units];
        above = new long[sections.count];
        choice = new SectionChoice(partial, techniques);
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
        return OptionalInt.of(choice.next(part));
    }

    private boolean bound(PartialPlan.Part part, long capacity) {
        for (int s = part.from(); s <= part.to(); s++) {
            if (partial.open[s] > 0 && partial.floor[s] + partial.open[s] > capacity) {
                choice.noteFailure(s);
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
                choice.noteFailure(sections.first[unit]);
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
                    choice.noteFailure(s);
                    return false;
                }
            }
        }
        return true;
    }

    /** Raises floors to the lowest offset of any member; returns whether any floor was lower. */
    private boolean raise(PartialPlan.Part part) {
        Arrays.fill(above, part.from(), part.to() + 1, -1);
        choice.begin(part);
        for (int i = part.units().length - 1; i >= 0; i--) {
            int unit = part.units()[i];
            for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
                if (above[s] < 0) {
                    above[s] = least[unit];
                }
                if (least[unit] == partial.floor[s]) {
                    choice.countCandidate(s);
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
     * Returns the lowest height at which the lowest remaining unit of a section can lie if it does
     * not lie on the section's floor; empty if there is none. The floors are those of the last
     * {@link #decide}, unless no height is left.
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
