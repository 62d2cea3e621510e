package org.djlplan.memplan.errors;

/**
 * Signals that the inputs of a prediction exceed the limits of {@code PlanHandle.limitInputBytes}
 * or {@code limitDimensions}. DJL passes it on as the cause of a {@code TranslateException}. The
 * model has not run.
 */
public final class InputTooLargeException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message for the user
     */
    public InputTooLargeException(String message) {
        super(message);
    }
}
