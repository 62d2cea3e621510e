package org.djlplan.memplan.internal.report;

import java.util.Locale;
import java.util.OptionalLong;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;

/** The implementation of {@link BudgetReport}. */
public record BudgetReportRecord(
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
        WeightIo io)
        implements BudgetReport {

    private static final double MEGA = 1e6;

    /**
     * Returns the report of a model that fits into its budget completely.
     *
     * @param weightsBytes all weights, which are read directly from the file
     */
    public static BudgetReport whole(
            long budgetBytes, long leastBudgetBytes, long arenaBytes, long weightsBytes) {
        return new BudgetReportRecord(
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

    @Override
    public boolean isWhole() {
        return pieces == 0 && delegatedOperators == 0;
    }

    @Override
    public boolean attainable() {
        return budgetBytes >= leastBudgetBytes;
    }

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
