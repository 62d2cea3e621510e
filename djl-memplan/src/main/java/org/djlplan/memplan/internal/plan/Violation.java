package org.djlplan.memplan.internal.plan;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A rule that a plan breaks, and the tensors that break it.
 *
 * @param rule the broken rule's name, in kebab case
 * @param tensors ids of the one or two tensors that break it
 * @param sentence a format of their names
 */
public record Violation(String rule, List<Integer> tensors, String sentence) {

    /** Two tensors that do not share a place are alive at once and overlap in memory. */
    public static final String OVERLAP = "overlap";

    /** Two tensors of one alias class lie at different places. */
    public static final String ALIAS_APART = "alias-apart";

    public Violation {
        tensors = ImmutableList.copyOf(tensors);
    }

    /**
     * Describes the violation in one sentence.
     *
     * @param names of {@link #tensors()}, in the same order
     */
    public String describe(List<String> names) {
        return sentence.formatted(names.toArray());
    }

    static Violation overlap(int tensor, int other) {
        return new Violation(
                OVERLAP, ImmutableList.of(tensor, other), "%s and %s overlap in time and space");
    }

    /**
     * Two tensors that do not share a place overlap in memory; their intervals do not overlap, but
     * the problem says that they may be alive at once.
     */
    static Violation conflictOverlap(int tensor, int other) {
        return new Violation(
                "conflict-overlap",
                ImmutableList.of(tensor, other),
                "%s and %s overlap in space and may be alive at once in another order");
    }

    static Violation negativeOffset(int tensor, long offsetBytes) {
        return new Violation(
                "negative-offset",
                ImmutableList.of(tensor),
                "%s has the negative offset " + offsetBytes);
    }

    static Violation misalignedOffset(int tensor, long offsetBytes, long alignmentBytes) {
        return new Violation(
                "misaligned-offset",
                ImmutableList.of(tensor),
                "%s has the offset " + offsetBytes + ", no multiple of " + alignmentBytes);
    }

    /** A tensor ends after the claimed end of the arena. */
    static Violation outsideArena(int tensor, long endBytes, long arenaBytes) {
        return new Violation(
                "outside-arena",
                ImmutableList.of(tensor),
                "%s ends at " + endBytes + " in an arena of " + arenaBytes);
    }

    static Violation noOffset(int tensor) {
        return new Violation("no-offset", ImmutableList.of(tensor), "%s has no offset");
    }

    /** Returns the violation {@link #ALIAS_APART}. */
    public static Violation aliasApart(int tensor, int other) {
        return new Violation(
                ALIAS_APART,
                ImmutableList.of(tensor, other),
                "%s is to share the place of %s but does not");
    }
}
