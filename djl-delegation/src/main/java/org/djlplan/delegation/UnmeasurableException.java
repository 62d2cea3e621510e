package org.djlplan.delegation;

/** Nothing can be measured here and now; the message says why, in one line. */
final class UnmeasurableException extends Exception {

    private static final long serialVersionUID = 1L;

    UnmeasurableException(String message) {
        super(message);
    }
}
