package org.djlplan.memplan.spi;

/**
 * There is not enough memory to run candidates. None is to blame, so nothing is known of the one
 * that was asked for.
 */
public final class NoRoomException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean killed;

    /**
     * @param message in one line, for people
     * @param killed whether it went so far that the system killed the process that ran them
     */
    public NoRoomException(String message, boolean killed) {
        super(message);
        this.killed = killed;
    }

    /** Returns whether the system killed the process that ran candidates. */
    public boolean killed() {
        return killed;
    }
}
