package org.djlplan.memplan.internal.runtime.ort;

import java.util.function.LongSupplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.report.Megabytes;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.report.BudgetReport;

/**
 * The budget of one model: the bytes that its weights and one prediction may take together. The
 * weights stay in memory. Thread-safe.
 */
public final class OrtBudget {

    /** A smaller arena is of no use. */
    private static final long LEAST_ARENA_BYTES = 4096;

    private final long weightsBytes;
    private final boolean bestEffort;

    private volatile LongSupplier bytes;
    private Known largest = new Known(1, 0);

    /**
     * The prediction that needed most.
     *
     * @param elements number of elements of its inputs
     */
    private record Known(long elements, long arenaBytes) {

        /** Returns what a prediction is expected to need if its memory grows like its inputs. */
        long expectedBytes(long ofElements) {
            return (long) (arenaBytes * Math.max(1, (double) ofElements / elements));
        }
    }

    /**
     * @param weightsBytes size of the session's weights, including mapped ones
     * @param bytes returns the current budget
     * @param bestEffort whether the budget limits nothing
     */
    public OrtBudget(long weightsBytes, LongSupplier bytes, boolean bestEffort) {
        this.weightsBytes = weightsBytes;
        this.bytes = bytes;
        this.bestEffort = bestEffort;
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
     * Checks that the weights and the largest prediction so far have room.
     *
     * @throws BudgetTooSmallException if they do not have room
     */
    void check() throws BudgetTooSmallException {
        check(bytes, largest().arenaBytes());
    }

    private void check(LongSupplier checked, long arenaBytes) throws BudgetTooSmallException {
        long budgetBytes = checked.getAsLong();
        if (!bestEffort && leastBytes(arenaBytes) > budgetBytes) {
            throw tooSmall(budgetBytes, leastBytes(arenaBytes), "at least");
        }
    }

    /** Notes a prediction that has ended. */
    synchronized void note(long elements, long arenaBytes) {
        if (arenaBytes > largest.arenaBytes()) {
            largest = new Known(Math.max(1, elements), arenaBytes);
        }
    }

    private synchronized Known largest() {
        return largest;
    }

    /** Returns the bytes of the weights and of the largest prediction so far. */
    long modelBytes() {
        return leastBytes(largest().arenaBytes());
    }

    /** Returns the smallest budget for a prediction that needs an arena of so many bytes. */
    private long leastBytes(long arenaBytes) {
        return weightsBytes + Math.max(LEAST_ARENA_BYTES, arenaBytes);
    }

    /** Returns how many bytes of an arena a prediction may use now. */
    long arenaBytes() {
        return bestEffort
                ? Long.MAX_VALUE
                : Math.max(LEAST_ARENA_BYTES, bytes.getAsLong() - weightsBytes);
    }

    /**
     * Returns the exception for a prediction that needed more memory than it may use. It names what
     * the prediction reached, or what it is expected to need if that is more.
     *
     * @param limitBytes of an arena that it may use
     * @param arenaBytes that it would have reached with its first allocation beyond the limit
     * @param elements number of elements of its inputs
     */
    BudgetTooSmallException exceeded(long limitBytes, long arenaBytes, long elements) {
        long expected = largest().expectedBytes(elements);
        return expected > arenaBytes
                ? tooSmall(weightsBytes + limitBytes, leastBytes(expected), "about")
                : tooSmall(weightsBytes + limitBytes, leastBytes(arenaBytes), "at least");
    }

    private BudgetTooSmallException tooSmall(long budgetBytes, long leastBytes, String bound) {
        return new BudgetTooSmallException(
                "a budget of %s is too small: %s %s, of which %s are weights"
                        .formatted(
                                Megabytes.of(budgetBytes),
                                bound,
                                Megabytes.atLeast(leastBytes),
                                Megabytes.of(weightsBytes)),
                leastBytes);
    }

    /** Returns the report. */
    BudgetReport report() {
        long arenaBytes = largest().arenaBytes();
        return Reports.whole(bytes.getAsLong(), leastBytes(arenaBytes), arenaBytes, weightsBytes);
    }
}
