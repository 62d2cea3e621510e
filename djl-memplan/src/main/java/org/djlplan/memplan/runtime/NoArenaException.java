package org.djlplan.memplan.runtime;

/** There is no memory for an arena, or none that this process may have; the message says why. */
public final class NoArenaException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    NoArenaException(String message) {
        super(message);
    }
}
