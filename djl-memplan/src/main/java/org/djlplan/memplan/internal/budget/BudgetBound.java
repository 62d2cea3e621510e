package org.djlplan.memplan.internal.budget;

import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * The lower bound of the arena: the largest number of bytes that the live activations and the used
 * pieces of weights of one step take. It is the maximum breadth of Pisarchyk and Lee 2020, section
 * 3, with the weights of an operator alive only at that operator.
 *
 * @param bytes the bound
 * @param step the first step that needs this size; −1 if there are no steps
 */
public record BudgetBound(long bytes, int step) {

    /** Returns the bound of a problem. */
    public static BudgetBound of(StreamingProblem problem) {
        long[] changes = new long[problem.steps() + 1];
        for (UsageRecord unit : problem.activations().units()) {
            changes[unit.first()] += unit.bytes();
            changes[unit.last() + 1] -= unit.bytes();
        }
        for (WeightUse use : problem.weights()) {
            changes[use.first()] += use.bytes();
            changes[use.last() + 1] -= use.bytes();
        }
        BudgetBound bound = new BudgetBound(0, problem.steps() == 0 ? -1 : 0);
        long breadth = 0;
        for (int step = 0; step < problem.steps(); step++) {
            breadth += changes[step];
            if (breadth > bound.bytes) {
                bound = new BudgetBound(breadth, step);
            }
        }
        return bound;
    }
}
