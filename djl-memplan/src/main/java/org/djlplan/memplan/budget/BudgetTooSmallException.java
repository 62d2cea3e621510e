package org.djlplan.memplan.budget;

/** A budget in which a model cannot run; the message names the least one and what asks for it. */
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
