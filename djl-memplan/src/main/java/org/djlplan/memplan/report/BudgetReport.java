package org.djlplan.memplan.report;

import java.util.Locale;
import java.util.OptionalLong;

/**
 * The budget of a model and how the model uses it.
 *
 * @param budgetBytes memory that the model may take above that of the idle runtime; for {@code
 *     auto} and percentages the current value
 * @param leastBudgetBytes the smallest budget in which it could run
 * @param arenaBytes memory of activations, temporaries and the weights in use
 * @param weightsBytes all weights that CPU kernels read, as stored in their file
 * @param pinnedBytes weights that stay in memory between predictions
 * @param pieces number of pieces in which the weights are loaded; 0 if they all stay in memory
 * @param slicedOperators number of operators that were sliced to fit
 * @param delegatedOperators number of operators that a delegate runs
 * @param delegatedBytes memory of the delegate: its packed weights and its workspaces
 * @param bytesLoadedPerPrediction weights that every prediction loads
 * @param predictedStallNanos how long a prediction waits for loads according to the plan
 * @param lastStallNanos how long the last prediction waited for loads; empty before the first
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

    /**
     * Returns the report of a model that fits into its budget completely.
     *
     * @param weightsBytes all weights, which are read directly from the file
     */
    public static BudgetReport whole(
            long budgetBytes, long leastBudgetBytes, long arenaBytes, long weightsBytes) {
        return new BudgetReport(
                budgetBytes,
                leastBudgetBytes,
                arenaBytes,
                weightsBytes,
                weightsBytes,
                0,
                0,
                0,
                0,
                0,
                0,
                OptionalLong.empty(),
                WeightIo.MMAP);
    }

    /** Returns whether the whole model is in memory, so that nothing is loaded piece by piece. */
    public boolean isWhole() {
        return pieces == 0 && delegatedOperators == 0;
    }

    /**
     * Returns whether the model can run in its budget. With {@code memplan.budget=…:best-effort}
     * the budget may be smaller.
     */
    public boolean attainable() {
        return budgetBytes >= leastBudgetBytes;
    }

    /** Returns the report for people, in one line. Sizes are in MB, 10⁶ bytes. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(budgetBytes == UNLIMITED ? "no budget" : "budget " + megabytes(budgetBytes));
        text.append(attainable() ? " (at least " : " (too small: at least ");
        text.append(megabytes(leastBudgetBytes)).append("): ");
        if (isWhole()) {
            text.append("whole, ").append(megabytes(weightsBytes)).append(" of weights, arena ");
            return text.append(megabytes(arenaBytes)).toString();
        }
        text.append(megabytes(weightsBytes)).append(" of weights in ").append(pieces);
        text.append(" pieces, ").append(megabytes(pinnedBytes)).append(" of them pinned, ");
        text.append(slicedOperators).append(" operators sliced, ");
        if (delegatedOperators > 0) {
            text.append(delegatedOperators).append(" delegated in ");
            text.append(megabytes(delegatedBytes)).append(", ");
        }
        text.append("arena ");
        text.append(megabytes(arenaBytes)).append("; a prediction loads ");
        text.append(megabytes(bytesLoadedPerPrediction)).append(" by ").append(io);
        text.append(" and stalls for ").append(millis(predictedStallNanos)).append(" as planned");
        lastStallNanos.ifPresent(
                nanos -> text.append(", ").append(millis(nanos)).append(" the last time"));
        return text.toString();
    }

    private static String megabytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MB", bytes / MEGA);
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.1f ms", nanos / MEGA);
    }
}
