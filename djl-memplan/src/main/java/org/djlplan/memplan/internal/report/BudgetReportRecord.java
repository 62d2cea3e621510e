package org.djlplan.memplan.internal.report;

import java.util.Locale;
import java.util.OptionalLong;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;

/**
 * The implementation of {@link BudgetReport}.
 *
 * @param delegated the operators that a delegate runs
 * @param loading how a prediction loads weights
 */
public record BudgetReportRecord(
        long budgetBytes,
        long leastBudgetBytes,
        long arenaBytes,
        long weightsBytes,
        long pinnedBytes,
        int pieces,
        int slicedOperators,
        Delegated delegated,
        Loading loading)
        implements BudgetReport {

    private static final double MEGA = 1e6;

    /** The operators that a delegate runs, and the bytes that it takes. */
    public record Delegated(int operators, long bytes) {

        /** No operators. */
        public static final Delegated NOTHING = new Delegated(0, 0);
    }

    /**
     * How a prediction loads weights.
     *
     * @param bytes that every prediction loads
     * @param predictedStallNanos how long a prediction waits for weights, according to the plan
     * @param lastStallNanos how long the last prediction waited; empty before the first prediction
     * @param io how weights are read
     */
    public record Loading(
            long bytes, long predictedStallNanos, OptionalLong lastStallNanos, WeightIo io) {

        /** Nothing is loaded, because all weights are mapped. */
        static final Loading NOTHING = new Loading(0, 0, OptionalLong.empty(), WeightIo.MMAP);
    }

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
                Delegated.NOTHING,
                Loading.NOTHING);
    }

    @Override
    public int delegatedOperators() {
        return delegated.operators();
    }

    @Override
    public long delegatedBytes() {
        return delegated.bytes();
    }

    @Override
    public long bytesLoadedPerPrediction() {
        return loading.bytes();
    }

    @Override
    public long predictedStallNanos() {
        return loading.predictedStallNanos();
    }

    @Override
    public OptionalLong lastStallNanos() {
        return loading.lastStallNanos();
    }

    @Override
    public WeightIo io() {
        return loading.io();
    }

    @Override
    public boolean isWhole() {
        return pieces == 0 && delegated.operators() == 0;
    }

    @Override
    public boolean attainable() {
        return budgetBytes >= leastBudgetBytes;
    }

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
        if (delegated.operators() > 0) {
            text.append(delegated.operators()).append(" delegated in ");
            text.append(Megabytes.of(delegated.bytes())).append(", ");
        }
        text.append("arena ");
        text.append(Megabytes.of(arenaBytes)).append("; a prediction loads ");
        text.append(Megabytes.of(loading.bytes())).append(" by ").append(loading.io());
        text.append(" and stalls for ")
                .append(millis(loading.predictedStallNanos()))
                .append(" as planned");
        lastStallNanos()
                .ifPresent(
                        nanos -> text.append(", ").append(millis(nanos)).append(" the last time"));
        return text.toString();
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.1f ms", nanos / MEGA);
    }
}
