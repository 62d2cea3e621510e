package org.djlplan.study.shared;

import java.util.List;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * Lays the objects of a shared-objects strategy end to end in one arena, in the order of their
 * numbers: every unit lies at the start of its object (Pisarchyk and Lee 2020, section 5). O(n)
 * after the strategy itself.
 */
public final class EndToEnd implements OffsetStrategy {

    private final SharedObjectsStrategy strategy;

    /** Creates the strategy that lays out plans of {@code strategy}. */
    public EndToEnd(SharedObjectsStrategy strategy) {
        this.strategy = strategy;
    }

    @Override
    public String name() {
        return name(strategy.name());
    }

    private static String name(String strategy) {
        return strategy + "-end-to-end";
    }

    @Override
    public int largestProblem() {
        return strategy.largestProblem();
    }

    @Override
    public boolean admits(PlanningProblem problem) {
        return strategy.admits(problem);
    }

    /**
     * {@inheritDoc}
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    @Override
    public OffsetPlan plan(PlanningProblem problem) {
        return layOut(strategy.plan(problem));
    }

    /**
     * Returns a plan with the objects of {@code plan} end to end.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    public static OffsetPlan layOut(SharedObjectsPlan plan) {
        List<UsageRecord> units = plan.problem().units();
        long[] starts = starts(plan.objectBytes());
        long[] offsets = new long[units.size()];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = starts[plan.objectOf(units.get(i).tensor())];
        }
        return OffsetPlan.ofUnits(name(plan.strategy()), plan.problem(), offsets);
    }

    /** Returns the start of each object in bytes, followed by the end of the last one. */
    static long[] starts(List<Long> objectBytes) {
        long[] starts = new long[objectBytes.size() + 1];
        for (int i = 0; i < objectBytes.size(); i++) {
            starts[i + 1] = UsageRecords.addBytes(starts[i], objectBytes.get(i));
        }
        return starts;
    }
}
