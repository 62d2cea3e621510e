package org.djlplan.memplan.spi;

/**
 * There is not enough memory to run candidates: the system ended the process that did. No candidate
 * is to blame, so nothing is known of them.
 */
public final class NoRoomException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message in one line, for people
     */
    public NoRoomException(String message) {
        super(message);
    }
}
