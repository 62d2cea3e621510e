package org.djlplan.memplan.spi;

/**
 * Signals an option value that does not fit the model, such as the name of an operator that it does
 * not have.
 */
public final class UnusableOptionException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message names key and value, and suggests valid values
     */
    public UnusableOptionException(String message) {
        super(message);
    }
}
