package org.djlplan.memplan.report;

import java.util.Locale;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.report.Megabytes;

/**
 * The budget of a model and how the model uses it.
 *
 * @param budgetBytes the bytes that the model may take in addition to the idle runtime's; for
 *     {@code auto} and percentages the current value
 * @param leastBudgetBytes the smallest budget for predictions like those so far, in bytes. With
 *     PyTorch it is a lower bound, because the engine may take more memory than the budget has for
 *     it
 * @param arenaBytes the bytes of activations, temporaries and the weights in use
 * @param weightsBytes the bytes of all weights that CPU kernels read, as stored in their file
 * @param pinnedBytes the bytes of weights that stay in memory between predictions
 * @param pieces the number of pieces in which the weights are loaded; 0 if they all stay in memory
 * @param slicedOperators the number of operators that were sliced to fit
 * @param delegatedOperators the number of operators that a delegate runs
 * @param delegatedBytes the bytes of the delegate: its packed weights and its workspaces
 * @param bytesLoadedPerPrediction the bytes of weights that every prediction loads
 * @param predictedStallNanos how long a prediction waits for loads according to the plan, in
 *     nanoseconds
 * @param lastStallNanos how long the last prediction waited for loads, in nanoseconds; empty before
 *     the first
 * @param io how weights are read now, never {@code AUTO}
 */
public record BudgetReport(
        long budgetBytes,
        long leastBudgetBytes,
        long arenaBytes,
        long weightsBytes,
        long pinnedBytes,
        int pieces,
        int slicedOperators,
        int delegatedOperators,
        long delegatedBytes,
        long bytesLoadedPerPrediction,
        long predictedStallNanos,
        OptionalLong lastStallNanos,
        WeightIo io) {

    /** The budget of a model without a limit. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private static final double MEGA = 1e6;

    /** Returns whether the whole model is in memory, so that nothing is loaded piece by piece. */
    public boolean isWhole() {
        return pieces == 0 && delegatedOperators == 0;
    }

    /**
     * Returns whether the model can run in its budget. With {@code memplan.budget=…:best-effort}
     * the budget may be too small.
     */
    public boolean attainable() {
        return budgetBytes >= leastBudgetBytes;
    }

    /** Returns the report for people, in one line. Sizes are in MB, 10⁶ bytes. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(budgetBytes == UNLIMITED ? "no budget" : "budget " + Megabytes.of(budgetBytes));
        text.append(attainable() ? " (at least " : " (too small: at least ");
        text.append(Megabytes.atLeast(leastBudgetBytes)).append("): ");
        if (isWhole()) {
            text.append("whole, ").append(Megabytes.of(weightsBytes)).append(" of weights, arena ");
            return text.append(Megabytes.of(arenaBytes)).toString();
        }
        text.append(Megabytes.of(weightsBytes)).append(" of weights in ").append(pieces);
        text.append(" pieces, ").append(Megabytes.of(pinnedBytes)).append(" of them pinned, ");
        text.append(slicedOperators).append(" operators sliced, ");
        if (delegatedOperators > 0) {
            text.append(delegatedOperators).append(" delegated in ");
            text.append(Megabytes.of(delegatedBytes)).append(", ");
        }
        text.append("arena ");
        text.append(Megabytes.of(arenaBytes)).append("; a prediction loads ");
        text.append(Megabytes.of(bytesLoadedPerPrediction)).append(" by ").append(io);
        text.append(" and stalls for ").append(millis(predictedStallNanos)).append(" as planned");
        lastStallNanos.ifPresent(
                nanos -> text.append(", ").append(millis(nanos)).append(" the last time"));
        return text.toString();
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.1f ms", nanos / MEGA);
    }
}
