package org.djlplan.memplan.internal.runtime.ort;

import java.util.Locale;
import java.util.function.LongSupplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.report.BudgetReportRecord;
import org.djlplan.memplan.report.BudgetReport;

/**
 * The budget of one model: the bytes that its weights and one prediction may take together. The
 * weights stay in memory. Thread-safe.
 */
final class OrtBudget {

    /** A smaller arena is of no use. */
    private static final long LEAST_ARENA_BYTES = 4096;

    private static final double MEGA = 1e6;

    private final long weightsBytes;

    private volatile LongSupplier bytes;

    /**
     * @param weightsBytes size of the session's weights
     * @param bytes returns the current budget
     */
    OrtBudget(long weightsBytes, LongSupplier bytes) {
        this.weightsBytes = weightsBytes;
        this.bytes = bytes;
    }

    /** Returns the supplier of the current budget. */
    LongSupplier bytes() {
        return bytes;
    }

    /**
     * Replaces the budget. A prediction that runs keeps its own.
     *
     * @throws BudgetTooSmallException if the weights have no room in it; the budget is then
     *     unchanged
     */
    void set(LongSupplier other) throws BudgetTooSmallException {
        check(other, 0);
        bytes = other;
    }

    /**
     * Checks that the weights and a prediction have room.
     *
     * @param arenaBytes that the prediction needs
     * @throws BudgetTooSmallException if they do not have room
     */
    void check(long arenaBytes) throws BudgetTooSmallException {
        check(bytes, arenaBytes);
    }

    private void check(LongSupplier checked, long arenaBytes) throws BudgetTooSmallException {
        long budgetBytes = checked.getAsLong();
        if (leastBytes(arenaBytes) > budgetBytes) {
            throw tooSmall(budgetBytes, leastBytes(arenaBytes));
        }
    }

    /** Returns the smallest budget for a prediction that needs an arena of so many bytes. */
    private long leastBytes(long arenaBytes) {
        return weightsBytes + Math.max(LEAST_ARENA_BYTES, arenaBytes);
    }

    /** Returns how many bytes of an arena a prediction may use. */
    long arenaBytes() {
        return Math.max(LEAST_ARENA_BYTES, bytes.getAsLong() - weightsBytes);
    }

    /**
     * Returns the exception for a prediction that needed more memory than the budget leaves.
     *
     * @param arenaBytes that it needed
     */
    BudgetTooSmallException exceeded(long arenaBytes) {
        return tooSmall(bytes.getAsLong(), weightsBytes + arenaBytes);
    }

    private BudgetTooSmallException tooSmall(long budgetBytes, long leastBytes) {
        return new BudgetTooSmallException(
                String.format(
                        Locale.ROOT,
                        "a budget of %.1f MB is too small: at least %.1f MB, of which %.1f MB are"
                                + " weights",
                        budgetBytes / MEGA,
                        Math.ceil(leastBytes / MEGA * 10) / 10,
                        weightsBytes / MEGA),
                leastBytes);
    }

    /**
     * Returns the report.
     *
     * @param arenaBytes that the largest prediction needed
     */
    BudgetReport report(long arenaBytes) {
        return BudgetReportRecord.whole(
                bytes.getAsLong(), leastBytes(arenaBytes), arenaBytes, weightsBytes);
    }
}
