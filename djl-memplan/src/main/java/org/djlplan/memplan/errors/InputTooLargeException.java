package org.djlplan.memplan.errors;

/**
 * Signals that a prediction exceeds a limit of single requests: {@code memplan.maxRequest}, {@code
 * memplan.limitDimensions}, or those of {@code PlanHandle}. DJL passes it on as the cause of a
 * {@code TranslateException}. The model has not run.
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
