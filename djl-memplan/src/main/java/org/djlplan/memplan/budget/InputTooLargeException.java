package org.djlplan.memplan.budget;

/**
 * The inputs of a prediction are larger than the model is told to take, by {@code
 * PlanHandle.limitInputBytes} or {@code limitDimensions}. DJL hands it on as the cause of a {@code
 * TranslateException}. The model has not run.
 */
public final class InputTooLargeException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message for a user
     */
    public InputTooLargeException(String message) {
        super(message);
    }
}
