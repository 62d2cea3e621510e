package org.djlplan.memplan.runtime;

/** The native library is not to be had on this machine; models run as stock. */
public final class UnsupportedPlatformException extends Exception {

    private static final long serialVersionUID = 1L;

    UnsupportedPlatformException(String message, Throwable cause) {
        super(message, cause);
    }
}
