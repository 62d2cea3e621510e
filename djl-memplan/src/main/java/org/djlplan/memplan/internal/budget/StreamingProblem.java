package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model whose weights are loaded while it runs, as a planning problem. A step is an operator, in
 * execution order.
 *
 * @param activations activations and kernels' temporaries, by steps; the records' sizes are aligned
 * @param weights uses of pieces of the weights, by their first step; uses of one piece do not
 *     overlap
 * @param costs the time that steps and loads take
 */
public record StreamingProblem(
        PlanningProblem activations, List<WeightUse> weights, StepCosts costs) {

    public StreamingProblem {
        weights = ImmutableList.copyOf(weights);
        checkArgument(activations.serial(), "steps need operators that run in order");
        int steps = costs.steps();
        for (int i = 0; i < weights.size(); i++) {
            checkArgument(weights.get(i).last() < steps, "%s has no such step", weights.get(i));
            checkArgument(
                    i == 0 || weights.get(i - 1).first() <= weights.get(i).first(),
                    "uses are not in order at %s",
                    weights.get(i));
        }
        for (UsageRecord unit : activations.units()) {
            checkArgument(unit.last() < steps, "%s has no such step", unit);
        }
    }

    /** Returns the size of an arena with room for everything at once. */
    public long enoughBytes() {
        long weightsBytes = weights.stream().mapToLong(WeightUse::bytes).sum();
        return weightsBytes + WeightUse.roundUp(UsageRecords.naiveBytes(activations.records()));
    }

    /** Returns the number of steps. */
    public int steps() {
        return costs.steps();
    }
}
