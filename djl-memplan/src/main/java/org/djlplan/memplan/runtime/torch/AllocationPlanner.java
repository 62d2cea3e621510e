package org.djlplan.memplan.runtime.torch;

import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.store.AllocationPlan;

/**
 * Plans allocations by the strategies and, where those stay above the lower bound, by a search. A
 * plan that was searched carries the search's name, even if nothing smaller was found: that is how
 * it is known not to be searched again.
 */
final class AllocationPlanner {

    private static final String SEARCH = new ExactSearch().name();

    private final String strategy;
    private final SearchMode mode;

    AllocationPlanner(String strategy, SearchMode mode) {
        this.strategy = strategy;
        this.mode = mode;
    }

    /** Returns the plan of the strategies. */
    EvaluatedPlan plan(AllocationTrace trace) {
        return MemoryPlanner.plan(trace.problem(), strategy);
    }

    /** Returns the plan to begin with; it was searched if the user wants to wait for that. */
    EvaluatedPlan firstPlan(AllocationTrace trace) {
        return searchedIfWaited(plan(trace));
    }

    /**
     * Returns a plan that was kept, searched as {@link #firstPlan} if it was not; or another one if
     * it was searched and no longer should be.
     */
    EvaluatedPlan restored(AllocationPlan kept) {
        boolean unwanted = mode instanceof SearchMode.Off && isSearched(kept.plan());
        return unwanted ? plan(kept.trace()) : searchedIfWaited(EvaluatedPlan.of(kept.plan()));
    }

    private EvaluatedPlan searchedIfWaited(EvaluatedPlan planned) {
        return mode instanceof SearchMode.AtLoad && isOpen(planned) ? search(planned) : planned;
    }

    /** Returns whether the plan should be searched. */
    boolean isOpen(EvaluatedPlan planned) {
        return !(mode instanceof SearchMode.Off)
                && !planned.provedMinimal()
                && !isSearched(planned.plan());
    }

    /** Returns whether a search was done. */
    boolean isSearched(OffsetPlan plan) {
        return plan.strategy().equals(SEARCH) && !strategy.equals(SEARCH);
    }

    /** Returns the smallest plan known after a search. */
    EvaluatedPlan search(EvaluatedPlan planned) {
        EvaluatedPlan found = MemoryPlanner.searched(planned, PlanImprover.within(mode.limit()));
        OffsetPlan plan = found.plan();
        return EvaluatedPlan.of(
                new OffsetPlan(SEARCH, plan.problem(), plan.unitOffsets()), found.provedMinimal());
    }
}
