package org.djlplan.memplan.internal.runtime.tflite;

/**
 * Signals that planning is impossible for a model, a platform or a version of the engine; the
 * message says why.
 */
public class UnplannableException extends Exception {

    private static final long serialVersionUID = 1L;

    public UnplannableException(String message) {
        super(message);
    }

    /** Returns the message of an exception, or its class if it has none. */
    public static String reason(Exception e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
