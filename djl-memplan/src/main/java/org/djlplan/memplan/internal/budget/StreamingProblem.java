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

    /** Returns the bytes of the activations that are alive at each step. */
    long[] activationBytes() {
        long[] bytes = new long[steps()];
        for (UsageRecord unit : activations.units()) {
            for (int step = unit.first(); step <= unit.last(); step++) {
                bytes[step] += unit.bytes();
            }
        }
        return bytes;
    }

    /** Returns the lower bound of the arena. */
    Bound bound() {
        long[] bytes = activationBytes();
        for (WeightUse use : weights) {
            for (int step = use.first(); step <= use.last(); step++) {
                bytes[step] += use.bytes();
            }
        }
        Bound bound = new Bound(0, bytes.length == 0 ? -1 : 0);
        for (int step = 0; step < bytes.length; step++) {
            bound = bytes[step] > bound.bytes ? new Bound(bytes[step], step) : bound;
        }
        return bound;
    }

    /**
     * The largest number of bytes that the live activations and the used pieces of weights of one
     * step take. It is the maximum breadth of Pisarchyk and Lee 2020, section 3, with the weights
     * of an operator alive only at that operator.
     *
     * @param step the first step that needs this size; −1 if there are no steps
     */
    record Bound(long bytes, int step) {}
}
