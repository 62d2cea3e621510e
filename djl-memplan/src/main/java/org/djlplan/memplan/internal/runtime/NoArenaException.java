package org.djlplan.memplan.internal.runtime;

/**
 * Signals that there is no memory for an arena, or that this process may not use it; the message
 * says why.
 */
public final class NoArenaException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    NoArenaException(String message) {
        super(message);
    }
}
