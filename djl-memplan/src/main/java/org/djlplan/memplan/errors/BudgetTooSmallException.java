package org.djlplan.memplan.errors;

/**
 * Signals a budget in which a model, or one of its predictions, cannot run. The message has a lower
 * bound of the bytes that it needs, and what needs them.
 */
public final class BudgetTooSmallException extends Exception {

    private static final long serialVersionUID = 1L;

    private final long leastBytes;

    /**
     * @param message for the user
     * @param leastBytes a lower bound of the smallest budget
     */
    public BudgetTooSmallException(String message, long leastBytes) {
        super(message);
        this.leastBytes = leastBytes;
    }

    /**
     * Returns a lower bound of the smallest budget, in bytes. It is the smallest budget of a
     * TensorFlow Lite model, and of a prediction like an earlier one. Another prediction with
     * PyTorch or ONNX Runtime ends at its first allocation beyond the budget, so it may need more.
     */
    public long leastBytes() {
        return leastBytes;
    }
}
