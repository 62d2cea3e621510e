package org.djlplan.memplan.config;

/**
 * The options of the planner.
 *
 * @param strategy name of a strategy, or {@value #BEST}
 * @param inPlace when tensors may share places
 * @param search when a plan above its lower bound is searched for a smaller one; never where a
 *     strategy is named, whose plan is wanted
 */
public record PlanningOptions(String strategy, InPlace inPlace, SearchMode search) {

    /** Stands for several strategies, of which the best plan is taken. */
    public static final String BEST = "best";

    public PlanningOptions {
        search = strategy.equals(BEST) ? search : new SearchMode.Off();
    }
}
