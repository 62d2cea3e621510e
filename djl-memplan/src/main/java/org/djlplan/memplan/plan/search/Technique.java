package org.djlplan.memplan.plan.search;

import com.google.common.collect.ImmutableSet;

/**
 * A technique that makes the search fast. Each may be switched off to see what it brings; the
 * result stays right without any of them.
 */
public enum Technique {
    /**
     * In every section the units left over are jobs of one machine that are released at their
     * lowest possible offsets: whatever cannot start below some height must fit above it (the bound
     * of Jackson's preemptive schedule).
     */
    RELEASE_BOUND,
    /** A unit that can no longer lie on what is placed lies on a unit that is not placed yet. */
    SUPPORT,
    /** No hole is left open that a unit left over could drop into. */
    DOMINANCE,
    /** Where nothing lies above a unit, its other places need not be tried. */
    HATLESS,
    /** Parts of the time axis that no unit left over connects are searched one by one. */
    DECOMPOSITION,
    /** What was once found impossible is not tried again when it comes back. */
    FAILURE_MEMORY,
    /** Valleys at any height are filled, not only the deepest. */
    LOCAL_VALLEYS,
    /** The section with the fewest candidates is decided first. */
    FAIL_FIRST,
    /** Of sections, those at which attempts failed often are decided first. */
    CONFLICT_WEIGHTS;

    /** All techniques. */
    public static final ImmutableSet<Technique> ALL = ImmutableSet.copyOf(values());
}
