package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * Validates a streaming plan against its problem, independently of the strategy.
 *
 * <p>A unit of the activations owns its place from its first step to its last. A piece owns its
 * place from the moment at which its load may begin (steps 0 to {@code after} − 1 have finished,
 * and step {@code after} may be running) to its last step; a pinned piece owns it in every step. No
 * two owners in a step may overlap. Loads begin in the order of the plan, so a load that waits for
 * a step delays all later loads. Therefore neither that step nor an earlier one may need this load
 * or a later load.
 */
public final class StreamingValidator {

    /** Limit of the reported violations. */
    public static final int MOST_VIOLATIONS = 1000;

    /** The rules of a plan. */
    public enum Rule {
        /** A unit has no offset, or a use has no load. */
        MISSING,
        /** An offset without a unit, a load without a use, or a second load of a use. */
        UNKNOWN,
        /** An offset is not a multiple of the alignment. */
        MISALIGNED,
        /** A place is not within the arena. */
        OUTSIDE_ARENA,
        /** Two owners in one step overlap. */
        OVERLAP,
        /** A step needs a load that waits for this step, or for a later one. */
        DEADLOCK
    }

    /**
     * A rule that a plan breaks.
     *
     * @param rule the rule
     * @param reason the violation in one sentence
     */
    public record Violation(Rule rule, String reason) {}

    /** A place in the arena, half-open, and the steps that own it, inclusive. */
    private record Place(String name, int first, int last, long startBytes, long endBytes) {}

    private final StreamingPlan plan;
    private final List<Violation> violations = new ArrayList<>();
    private final List<Place> places = new ArrayList<>();

    private StreamingValidator(StreamingPlan plan) {
        this.plan = plan;
    }

    /**
     * Returns the violations of a plan; empty if it is valid. At most {@link #MOST_VIOLATIONS} are
     * listed.
     */
    public static ImmutableList<Violation> violations(StreamingPlan plan) {
        StreamingValidator validator = new StreamingValidator(plan);
        validator.checkActivations();
        validator.checkLoads();
        validator.checkOverlaps();
        validator.checkOrder();
        return ImmutableList.copyOf(validator.violations);
    }

    private void checkActivations() {
        Set<Integer> unknown = new HashSet<>(plan.activationOffsets().keySet());
        for (UsageRecord unit : plan.problem().activations().units()) {
            unknown.remove(unit.tensor());
            String name = "unit " + unit.tensor();
            Long offset = plan.activationOffsets().get(unit.tensor());
            if (offset == null) {
                report(Rule.MISSING, name + " has no offset");
            } else {
                checkPlace(
                        name,
                        unit.first(),
                        unit.last(),
                        offset,
                        unit.bytes(),
                        UsageRecords.ALIGNMENT_BYTES);
            }
        }
        unknown.stream().sorted().forEach(unit -> report(Rule.UNKNOWN, "there is no unit " + unit));
    }

    private void checkLoads() {
        List<WeightUse> uses = plan.problem().weights();
        int[] loads = new int[uses.size()];
        for (Load load : plan.loads()) {
            if (load.use() >= uses.size()) {
                report(Rule.UNKNOWN, "there is no use " + load.use());
                continue;
            }
            if (++loads[load.use()] > 1) {
                report(Rule.UNKNOWN, name(load) + " is loaded again");
                continue;
            }
            WeightUse use = uses.get(load.use());
            checkPlace(
                    name(load),
                    load.pinned() ? 0 : Math.min(load.after(), use.first()),
                    load.pinned() ? plan.problem().steps() - 1 : use.last(),
                    load.offsetBytes(),
                    use.bytes(),
                    WeightUse.PAGE_BYTES);
        }
        for (int i = 0; i < loads.length; i++) {
            if (loads[i] == 0) {
                report(Rule.MISSING, "use " + i + " has no load");
            }
        }
    }

    private void checkPlace(
            String name, int first, int last, long offset, long bytes, long alignmentBytes) {
        long end = LongMath.saturatedAdd(offset, bytes);
        if (offset % alignmentBytes != 0) {
            report(
                    Rule.MISALIGNED,
                    name + " lies at " + offset + ", no multiple of " + alignmentBytes);
        }
        if (offset < 0 || end > plan.arenaBytes()) {
            report(
                    Rule.OUTSIDE_ARENA,
                    name
                            + " lies from "
                            + offset
                            + " to "
                            + end
                            + " in an arena of "
                            + plan.arenaBytes());
        }
        places.add(new Place(name, first, last, offset, end));
    }

    /** Compares each place with all that start before its end: O(n²) in the worst case. */
    private void checkOverlaps() {
        places.sort(Comparator.comparingInt(Place::first).thenComparing(Place::name));
        for (int i = 0; i < places.size(); i++) {
            Place place = places.get(i);
            for (int j = i + 1; j < places.size(); j++) {
                Place other = places.get(j);
                if (other.first > place.last) {
                    break;
                }
                if (place.startBytes < other.endBytes && other.startBytes < place.endBytes) {
                    report(
                            Rule.OVERLAP,
                            place.name + " and " + other.name + " overlap in step " + other.first);
                }
            }
        }
    }

    /**
     * Goes through the loads from the last one, tracking the first step that needs any of the
     * visited ones.
     */
    private void checkOrder() {
        List<WeightUse> uses = plan.problem().weights();
        int needed = Integer.MAX_VALUE;
        for (Load load : Lists.reverse(plan.loads())) {
            if (load.use() >= uses.size()) {
                continue;
            }
            needed = Math.min(needed, uses.get(load.use()).first());
            if (load.after() > needed) {
                report(
                        Rule.DEADLOCK,
                        name(load)
                                + " waits for step "
                                + (load.after() - 1)
                                + ", and step "
                                + needed
                                + " for it");
            }
        }
    }

    private static String name(Load load) {
        return "use " + load.use();
    }

    private void report(Rule rule, String reason) {
        if (violations.size() < MOST_VIOLATIONS) {
            violations.add(new Violation(rule, reason));
        }
    }
}
