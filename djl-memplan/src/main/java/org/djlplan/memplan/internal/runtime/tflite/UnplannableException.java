package org.djlplan.memplan.internal.runtime.tflite;

/** Signals that a model, platform or engine version cannot be planned; the message says why. */
public class UnplannableException extends Exception {

    private static final long serialVersionUID = 1L;

    public UnplannableException(String message) {
        super(message);
    }

    /** Returns what an exception says or, as many say nothing, what it is. */
    public static String reason(Exception e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
