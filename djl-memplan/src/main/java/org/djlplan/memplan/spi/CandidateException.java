package org.djlplan.memplan.spi;

/** Signals that a candidate cannot run; other candidates may. */
public final class CandidateException extends Exception {

    private static final long serialVersionUID = 1L;

    /** The kind of a failure. */
    public enum Kind {
        /** The engine or the delegate refused it. */
        REFUSED,
        /** The process that ran it crashed. */
        CRASHED,
        /** It did not answer in time. */
        TIMED_OUT
    }

    private final Kind kind;

    /**
     * @param kind of failure
     * @param message in one line, for people
     */
    public CandidateException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** Returns the kind of failure. */
    public Kind kind() {
        return kind;
    }
}
