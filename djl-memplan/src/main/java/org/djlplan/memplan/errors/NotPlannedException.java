package org.djlplan.memplan.errors;

/**
 * Signals that a model was not loaded because of {@code memplan.required=true}: it cannot be
 * planned, or delegation is on and no choice was verified while it was loaded. This exception is
 * the cause of the {@code TranslateException} that DJL puts into the exception of {@code
 * Criteria.loadModel()}, and of the {@code IOException} of a block factory.
 *
 * @since 0.3
 */
public final class NotPlannedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final String reason;

    /**
     * @param model its name
     * @param reason in one line
     */
    public NotPlannedException(String model, String reason) {
        super(model + " is not loaded because of memplan.required=true: " + reason);
        this.reason = reason;
    }

    /** Returns the reason in one line, as {@code PlanReport.unplannedReason} would have it. */
    public String reason() {
        return reason;
    }
}
