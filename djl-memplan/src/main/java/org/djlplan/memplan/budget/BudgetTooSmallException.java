package org.djlplan.memplan.budget;

/**
 * Signals a budget in which a model cannot run; the message has the smallest possible budget and
 * the operator that needs it.
 */
public final class BudgetTooSmallException extends Exception {

    private static final long serialVersionUID = 1L;

    private final long leastBytes;

    /**
     * @param message for a user
     * @param leastBytes the smallest budget that would do
     */
    public BudgetTooSmallException(String message, long leastBytes) {
        super(message);
        this.leastBytes = leastBytes;
    }

    /** Returns the smallest budget that would do, in bytes. */
    public long leastBytes() {
        return leastBytes;
    }
}
