package org.djlplan.study.search;

import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * A technique that speeds up the search. Each can be switched off to measure its effect; the result
 * is correct without any of them.
 */
public enum Technique {
    /**
     * In every section the remaining units are jobs of one machine that are released at their
     * lowest possible offsets: all units that cannot start below some height must fit above it (the
     * bound of Jackson's preemptive schedule).
     */
    RELEASE_BOUND,
    /** A unit that cannot lie on a placed unit any more lies on a unit that is not placed yet. */
    SUPPORT,
    /** No hole is left open into which a remaining unit could drop. */
    DOMINANCE,
    /** If nothing lies above a unit, its other places need not be tried. */
    HATLESS,
    /** Parts of the time axis that no remaining unit connects are searched one by one. */
    DECOMPOSITION,
    /** A state that was found impossible is not tried again. */
    FAILURE_MEMORY,
    /** Valleys at any height are filled, not only the deepest ones. */
    LOCAL_VALLEYS,
    /** The section with the fewest candidates is decided first. */
    FAIL_FIRST,
    /** Sections at which attempts often failed are decided first. */
    CONFLICT_WEIGHTS;

    /** All techniques. */
    public static final ImmutableSet<Technique> ALL = ImmutableSet.copyOf(values());
}
