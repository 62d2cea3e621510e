package org.djlplan.memplan.cli.report;

import com.google.common.collect.ImmutableSet;

/** Names of plans that no strategy of the planner has. */
public final class PlanNames {

    /** The engine's own arena. */
    public static final String ENGINE = "engine";

    /** The plan that a run used. */
    public static final String IN_USE = "in use";

    /** What every other plan is compared with. */
    static final ImmutableSet<String> ALL = ImmutableSet.of(ENGINE, IN_USE);

    private PlanNames() {}
}
