package org.djlplan.memplan.measure;

import java.io.IOException;

/** The system starts no process here, or its classes cannot be found, whatever the model is. */
final class NoProcessException extends IOException {

    private static final long serialVersionUID = 1L;

    NoProcessException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
