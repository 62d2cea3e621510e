package org.djlplan.study.search;

import static org.djlplan.study.search.Technique.CONFLICT_WEIGHTS;
import static org.djlplan.study.search.Technique.FAIL_FIRST;
import static org.djlplan.study.search.Technique.LOCAL_VALLEYS;

import java.util.Arrays;
import java.util.Set;

/**
 * Chooses the section to decide next: one with few units that may lie on its floor, and where many
 * attempts failed.
 */
final class SectionChoice {

    private final PartialPlan partial;
    private final boolean localValleys;
    private final boolean failFirst;
    private final boolean conflictWeights;

    /** Per section: the number of units that may lie directly on its floor. */
    private final int[] candidates;

    /** Per section: how often attempts failed there. */
    private final long[] failures;

    SectionChoice(PartialPlan partial, Set<Technique> techniques) {
        this.partial = partial;
        localValleys = techniques.contains(LOCAL_VALLEYS);
        failFirst = techniques.contains(FAIL_FIRST);
        conflictWeights = techniques.contains(CONFLICT_WEIGHTS);
        candidates = new int[partial.sections.count];
        failures = new long[partial.sections.count];
    }

    /** Records that an attempt failed because of a section. */
    void noteFailure(int section) {
        failures[section]++;
    }

    /** Begins to count the units that may lie on the floors of a part. */
    void begin(PartialPlan.Part part) {
        Arrays.fill(candidates, part.from(), part.to() + 1, 0);
    }

    /** Counts a unit that may lie directly on a section's floor. */
    void countCandidate(int section) {
        candidates[section]++;
    }

    /**
     * Returns the section to decide next, one of a valley: a run of sections with one floor, with
     * higher floors on both sides. A unit right on the floor of a valley lies within the valley, so
     * it lies on all of its sections' floors.
     */
    int next(PartialPlan.Part part) {
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
}
