package org.djlplan.integration.paper;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.Strategies;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** A strategy and the layout of its plans. */
record Contender(OffsetStrategy strategy, Kind kind) {

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
                        Strategies.offsets().stream()
                                .map(each -> new Contender(each, Kind.OFFSETS)),
                        SharedStrategies.all().stream()
                                .map(each -> new Contender(each, Kind.SHARED_OBJECTS)))
                .collect(ImmutableList.toImmutableList());
    }

    String name() {
        return strategy.name();
    }

    /**
     * Returns the size of the strategy's plan.
     *
     * @throws IllegalStateException if the plan is not valid
     */
    long bytes(PlanningProblem problem) {
        OffsetPlan plan = strategy.plan(problem);
        List<?> violations = PlanValidator.violations(plan, UsageRecords.ALIGNMENT_BYTES);
        checkState(violations.isEmpty(), "%s: %s", plan.strategy(), violations);
        return plan.totalBytes();
    }
}
