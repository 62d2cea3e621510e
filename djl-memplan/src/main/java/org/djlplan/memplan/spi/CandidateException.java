package org.djlplan.memplan.spi;

/** Thrown when a candidate cannot run; others may. */
public final class CandidateException extends Exception {

    private static final long serialVersionUID = 1L;

    /** The kind of a failure. */
    public enum Kind {
        /** The engine or the delegate said no. */
        REFUSED,
        /** The process that ran it died. */
        CRASHED,
        /** It did not answer in time. */
        TIMED_OUT
    }

    private final Kind kind;

    /**
     * @param kind what happened
     * @param message in one line, for people
     */
    public CandidateException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** Returns what happened. */
    public Kind kind() {
        return kind;
    }
}
