package org.djlplan.memplan.plan.search;

import static org.djlplan.memplan.plan.search.Technique.DECOMPOSITION;
import static org.djlplan.memplan.plan.search.Technique.FAILURE_MEMORY;
import static org.djlplan.memplan.plan.search.Technique.HATLESS;

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
 * search decides, section by section, which unit left over is the lowest: one that lies right on
 * the section's floor, or none, and then the floor rises. These cases exclude each other, so no
 * partial plan is met twice by one path. A section to decide is taken from a valley of the skyline,
 * so that whatever lies right on its floor leaves nothing open below it.
 */
final class Attempt {

    /** How an attempt ended. */
    enum Outcome {
        FOUND,
        IMPOSSIBLE,
        STOPPED
    }

    /** How many nodes pass between two looks at the clock. */
    private static final int NODES_BETWEEN_CHECKS = 64;

    private final Sections sections;
    private final Skyline skyline;
    private final Inference inference;
    private final FailedStates failed;
    private final BooleanSupplier stop;
    private final boolean hatless;
    private final boolean decomposition;
    private final boolean memory;

    private Preference preference;
    private long capacity;
    private long nodesLeft;
    private long nodes;

    Attempt(Sections sections, Set<Technique> techniques, int remembered, BooleanSupplier stop) {
        this.sections = sections;
        this.stop = stop;
        skyline = new Skyline(sections);
        inference = new Inference(skyline, techniques);
        failed = new FailedStates(remembered);
        hatless = techniques.contains(HATLESS);
        decomposition = techniques.contains(DECOMPOSITION);
        memory = techniques.contains(FAILURE_MEMORY);
        preference = Preference.byLength(sections);
    }

    /** Returns how many partial plans all runs have looked at. */
    long nodes() {
        return nodes;
    }

    /** Returns where every unit lies after a run that found a plan. */
    long[] offsets() {
        return skyline.offset.clone();
    }

    /** Searches, looking at no more than {@code mostNodes} partial plans. */
    Outcome run(long capacityBytes, Preference order, long mostNodes) {
        if (capacityBytes > capacity) {
            failed.clear();
        }
        capacity = capacityBytes;
        preference = order;
        nodesLeft = mostNodes;
        int[] all = IntStream.range(0, sections.units).toArray();
        return parts(new Part(all, 0, sections.count - 1));
    }

    /** Searches the parts into which a part has fallen, one after another. */
    private Outcome parts(Part whole) {
        int from = whole.from();
        for (int s = from; s <= whole.to(); s++) {
            if (s == whole.to() || skyline.separateAfter(s)) {
                int first = from;
                int last = s;
                int[] inside =
                        Arrays.stream(whole.units())
                                .filter(
                                        unit ->
                                                !skyline.placed[unit]
                                                        && sections.first[unit] >= first
                                                        && sections.last[unit] <= last)
                                .toArray();
                if (inside.length > 0) {
                    Part part = new Part(inside, first, last);
                    preference.enter(part, skyline);
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

    private Outcome search(Part part) {
        if (nodesLeft-- <= 0 || (nodes++ % NODES_BETWEEN_CHECKS == 0 && stop.getAsBoolean())) {
            return Outcome.STOPPED;
        }
        int mark = skyline.mark();
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
        skyline.undo(mark);
        return outcome;
    }

    /** A part's future depends on its units, the floors they meet, and which are stuck. */
    private void key(Part part) {
        failed.begin();
        for (int unit : part.units()) {
            failed.add(unit, inference.stuck(unit) ? skyline.support[unit] : -1);
        }
        for (int s = part.from(); s <= part.to(); s++) {
            if (skyline.open[s] > 0) {
                failed.add(sections.units + (long) s, skyline.floor[s]);
            }
        }
    }

    private Outcome branch(Part part, OptionalInt first) {
        OptionalInt next = first;
        while (next.isPresent()) {
            int section = next.getAsInt();
            for (int unit : candidates(section)) {
                int mark = skyline.mark();
                boolean lifts = skyline.place(unit, skyline.floor[section]);
                Outcome outcome = descend(part, unit);
                skyline.remove(unit, mark);
                if (outcome != Outcome.IMPOSSIBLE || (hatless && !lifts)) {
                    return outcome;
                }
            }
            OptionalLong height = inference.aboveFloor(section);
            if (height.isEmpty() || height.getAsLong() + skyline.open[section] > capacity) {
                return Outcome.IMPOSSIBLE;
            }
            skyline.raise(section, height.getAsLong());
            next = inference.decide(part, capacity);
        }
        return Outcome.IMPOSSIBLE;
    }

    /** Returns the units that may lie right on a section's floor, in order of preference. */
    private int[] candidates(int section) {
        return Arrays.stream(sections.members[section])
                .filter(
                        unit ->
                                !skyline.placed[unit]
                                        && inference.leastOffset(unit) == skyline.floor[section]
                                        && !inference.stuck(unit))
                .boxed()
                .sorted((a, b) -> preference.before(a, b) ? -1 : a.equals(b) ? 0 : 1)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private Outcome descend(Part part, int placed) {
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
        return count == 0 ? Outcome.FOUND : search(new Part(left, part.from(), part.to()));
    }

    private boolean splits(int placed) {
        for (int s = sections.first[placed]; s < sections.last[placed]; s++) {
            if (skyline.separateAfter(s)) {
                return true;
            }
        }
        return false;
    }
}
