package org.djlplan.memplan.source.tflite;

import java.io.IOException;

/**
 * A model cannot be written without losing part of it, or would be larger than the format allows.
 */
public final class TfLiteWriteException extends IOException {

    private static final long serialVersionUID = 1;

    TfLiteWriteException(String message) {
        super(message);
    }
}
