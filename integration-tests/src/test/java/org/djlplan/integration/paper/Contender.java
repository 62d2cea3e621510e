package org.djlplan.integration.paper;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.Strategies;
import org.djlplan.study.shared.SharedObjectsPlan;
import org.djlplan.study.shared.SharedObjectsStrategy;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A strategy of either layout, reduced to its name and its total size.
 *
 * @param name the strategy's name
 * @param kind the layout
 * @param admits whether it can plan a problem
 * @param bytes size of its plan; throws {@link IllegalStateException} if the plan is not valid
 */
record Contender(
        String name,
        Kind kind,
        Predicate<PlanningProblem> admits,
        ToLongFunction<PlanningProblem> bytes) {

    /** The layout of a plan, and its lower bound. */
    enum Kind {
        OFFSETS("Offset calculation") {
            @Override
            long boundBytes(PlanningProblem problem) {
                return LowerBounds.offsetBytes(problem.units());
            }
        },
        SHARED_OBJECTS("Shared objects") {
            @Override
            long boundBytes(PlanningProblem problem) {
                return LowerBounds.sharedObjectBytes(problem.units());
            }
        };

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }

        abstract long boundBytes(PlanningProblem problem);
    }

    /** Returns all strategies. */
    static ImmutableList<Contender> all() {
        return Stream.concat(
                        Strategies.offsets().stream().map(Contender::of),
                        SharedStrategies.all().stream().map(Contender::of))
                .collect(ImmutableList.toImmutableList());
    }

    static Contender of(OffsetStrategy strategy) {
        return new Contender(
                strategy.name(),
                Kind.OFFSETS,
                strategy::admits,
                problem -> checked(strategy.plan(problem)).totalBytes());
    }

    static Contender of(SharedObjectsStrategy strategy) {
        return new Contender(
                strategy.name(),
                Kind.SHARED_OBJECTS,
                strategy::admits,
                problem -> checked(endToEnd(strategy.plan(problem))).totalBytes());
    }

    private static OffsetPlan checked(OffsetPlan plan) {
        List<?> violations = PlanValidator.violations(plan, UsageRecords.ALIGNMENT_BYTES);
        checkState(violations.isEmpty(), "%s: %s", plan.strategy(), violations);
        return plan;
    }

    /**
     * Returns a plan with all objects one after another, which has their total size and is valid if
     * they are.
     */
    private static OffsetPlan endToEnd(SharedObjectsPlan plan) {
        List<Long> sizes = plan.objectBytes();
        long[] starts = new long[sizes.size()];
        for (int i = 1; i < starts.length; i++) {
            starts[i] = starts[i - 1] + sizes.get(i - 1);
        }
        Map<Integer, Long> offsets = new HashMap<>();
        for (UsageRecord unit : plan.problem().units()) {
            offsets.put(unit.tensor(), starts[plan.objectOf(unit.tensor())]);
        }
        return new OffsetPlan(plan.strategy(), plan.problem(), offsets);
    }
}
