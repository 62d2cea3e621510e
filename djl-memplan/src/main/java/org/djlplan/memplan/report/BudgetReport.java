package org.djlplan.memplan.report;

import java.util.OptionalLong;

/** The budget of a model and how the model uses it. */
public interface BudgetReport {

    /** The budget of a model without a limit. */
    long UNLIMITED = Long.MAX_VALUE;

    /**
     * Returns the bytes that the model may take in addition to the idle runtime's; for {@code auto}
     * and percentages the current value.
     */
    long budgetBytes();

    /**
     * Returns the smallest budget for predictions like those so far, in bytes. With PyTorch it is a
     * lower bound, because the engine may take more memory than the budget has for it.
     */
    long leastBudgetBytes();

    /** Returns the bytes of activations, temporaries and the weights in use. */
    long arenaBytes();

    /** Returns the bytes of all weights that CPU kernels read, as stored in their file. */
    long weightsBytes();

    /** Returns the bytes of weights that stay in memory between predictions. */
    long pinnedBytes();

    /**
     * Returns the number of pieces in which the weights are loaded; 0 if they all stay in memory.
     */
    int pieces();

    /** Returns the number of operators that were sliced to fit. */
    int slicedOperators();

    /** Returns the number of operators that a delegate runs. */
    int delegatedOperators();

    /** Returns the bytes of the delegate: its packed weights and its workspaces. */
    long delegatedBytes();

    /** Returns the bytes of weights that every prediction loads. */
    long bytesLoadedPerPrediction();

    /** Returns how long a prediction waits for loads according to the plan, in nanoseconds. */
    long predictedStallNanos();

    /**
     * Returns how long the last prediction waited for loads, in nanoseconds; empty before the
     * first.
     */
    OptionalLong lastStallNanos();

    /** Returns how weights are read now, never {@code AUTO}. */
    WeightIo io();

    /** Returns whether the whole model is in memory, so that nothing is loaded piece by piece. */
    boolean isWhole();

    /**
     * Returns whether the model can run in its budget. With {@code memplan.budget=…:best-effort}
     * the budget may be too small.
     */
    boolean attainable();

    /** Returns the report for people, in one line. Sizes are in MB, 10⁶ bytes. */
    @Override
    String toString();
}
