package org.djlplan.memplan.source.tflite;

import java.io.IOException;

/**
 * A file is not a {@code .tflite} file that can be planned: the message says in which file, at
 * which byte, where in the tree of tables, and what is wrong.
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
