package org.djlplan.cli.report;

import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** Names of plans that are not made by a strategy of the planner. */
public final class PlanNames {

    /** The engine's own arena. */
    public static final String ENGINE = "engine";

    /** The plan that was used in a run. */
    public static final String IN_USE = "in use";

    /** The plans that all others are compared with. */
    static final ImmutableSet<String> ALL = ImmutableSet.of(ENGINE, IN_USE);

    private PlanNames() {}
}
