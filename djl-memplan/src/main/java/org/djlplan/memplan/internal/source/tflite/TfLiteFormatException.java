package org.djlplan.memplan.internal.source.tflite;

import java.io.IOException;

/**
 * Signals a file that is not a plannable {@code .tflite} file; the message has the file, the byte
 * position, the path in the tree of tables, and the error.
 */
public final class TfLiteFormatException extends IOException {

    private static final long serialVersionUID = 1;

    TfLiteFormatException(String message) {
        super(message);
    }

    TfLiteFormatException(String message, Throwable cause) {
        super(message, cause);
    }
}
