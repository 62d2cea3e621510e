package org.djlplan.memplan.internal.runtime;

/** Signals that there is no native library for this machine; models run as stock. */
public final class UnsupportedPlatformException extends Exception {

    private static final long serialVersionUID = 1L;

    public UnsupportedPlatformException(String message, Throwable cause) {
        super(message, cause);
    }
}
