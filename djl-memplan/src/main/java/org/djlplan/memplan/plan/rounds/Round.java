package org.djlplan.memplan.plan.rounds;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * What becomes known at once.
 *
 * @param operator the operator that resolves the sizes as it runs, so that its own outputs may be
 *     among them; 0 for what is known before the model runs
 * @param known the newly known records, none of which is used before {@code operator}, and which of
 *     them share places; no conflicts beside overlapping intervals, because rounds need operators
 *     that run in order
 */
public record Round(int operator, PlanningProblem known) {

    public Round {
        checkArgument(operator >= 0, "negative operator: %s", operator);
        checkArgument(known.conflicts().isEmpty(), "rounds need operators that run in order");
        for (UsageRecord record : known.records()) {
            checkArgument(
                    record.first() >= operator,
                    "tensor %s is used at %s, but its size is known only at %s",
                    record.tensor(),
                    record.first(),
                    operator);
        }
    }
}
