package org.djlplan.memplan.spi;

/**
 * Signals that candidates cannot be run now: there is not enough memory, or no process for them. No
 * single candidate is the cause, so nothing is known about the requested one.
 */
public final class NoRoomException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean killed;

    /**
     * @param message in one line, for people
     * @param killed whether the system killed the process that ran candidates
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
