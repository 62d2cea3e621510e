package org.djlplan.cli.report;

/** Names of plans that are not made by a strategy of the planner. */
public final class PlanNames {

    /** The engine's own arena. */
    public static final String ENGINE = "engine";

    private PlanNames() {}
}
