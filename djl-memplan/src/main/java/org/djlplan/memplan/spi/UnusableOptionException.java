package org.djlplan.memplan.spi;

/** An option has a value that cannot be meant for the model at hand, such as one that it lacks. */
public final class UnusableOptionException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message names key and value, and says what may be meant
     */
    public UnusableOptionException(String message) {
        super(message);
    }
}
