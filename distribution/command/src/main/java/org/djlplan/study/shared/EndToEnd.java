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
 *
 * <p>Each nested class is one such strategy. {@link java.util.ServiceLoader}, with which the
 * registry of strategies finds them, needs a class for each.
 */
public class EndToEnd implements OffsetStrategy {

    /** {@link GreedyBySizeImproved}, end to end. */
    public static final class OfGreedyBySizeImproved extends EndToEnd {
        public OfGreedyBySizeImproved() {
            super(new GreedyBySizeImproved());
        }
    }

    /** {@link GreedyBySize}, end to end. */
    public static final class OfGreedyBySize extends EndToEnd {
        public OfGreedyBySize() {
            super(new GreedyBySize());
        }
    }

    /** {@link GreedyByBreadth}, end to end. */
    public static final class OfGreedyByBreadth extends EndToEnd {
        public OfGreedyByBreadth() {
            super(new GreedyByBreadth());
        }
    }

    /** {@link GreedyInOrder}, end to end. */
    public static final class OfGreedyInOrder extends EndToEnd {
        public OfGreedyInOrder() {
            super(new GreedyInOrder());
        }
    }

    /** {@link MinCostFlow}, end to end. */
    public static final class OfMinCostFlow extends EndToEnd {
        public OfMinCostFlow() {
            super(new MinCostFlow());
        }
    }

    /** {@link EqualitySizes}, end to end. */
    public static final class OfEqualitySizes extends EndToEnd {
        public OfEqualitySizes() {
            super(new EqualitySizes());
        }
    }

    /** {@link Naive}, end to end. */
    public static final class OfNaive extends EndToEnd {
        public OfNaive() {
            super(new Naive());
        }
    }

    /** {@link OptimalObjects}, end to end. */
    public static final class OfOptimalObjects extends EndToEnd {
        public OfOptimalObjects() {
            super(new OptimalObjects());
        }
    }

    private final SharedObjectsStrategy strategy;

    /** Creates the strategy that lays out plans of {@code strategy}. */
    public EndToEnd(SharedObjectsStrategy strategy) {
        this.strategy = strategy;
    }

    @Override
    public final String name() {
        return name(strategy.name());
    }

    private static String name(String strategy) {
        return strategy + "-end-to-end";
    }

    @Override
    public final int largestProblem() {
        return strategy.largestProblem();
    }

    @Override
    public final boolean admits(PlanningProblem problem) {
        return strategy.admits(problem);
    }

    /**
     * {@inheritDoc}
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    @Override
    public final OffsetPlan plan(PlanningProblem problem) {
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
