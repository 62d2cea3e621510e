package org.djlplan.memplan.errors;

/**
 * Signals a budget in which a model cannot run; the message has the smallest possible budget and
 * the operator that needs it.
 */
public final class BudgetTooSmallException extends Exception {

    private static final long serialVersionUID = 1L;

    private final long leastBytes;

    /**
     * @param message for the user
     * @param leastBytes the smallest possible budget
     */
    public BudgetTooSmallException(String message, long leastBytes) {
        super(message);
        this.leastBytes = leastBytes;
    }

    /** Returns the smallest possible budget in bytes. */
    public long leastBytes() {
        return leastBytes;
    }
}
