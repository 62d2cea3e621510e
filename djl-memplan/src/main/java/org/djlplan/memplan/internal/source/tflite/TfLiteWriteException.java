package org.djlplan.memplan.internal.source.tflite;

import java.io.IOException;

/** Signals a model that cannot be written completely, or exceeds the format's size limit. */
public final class TfLiteWriteException extends IOException {

    private static final long serialVersionUID = 1;

    TfLiteWriteException(String message) {
        super(message);
    }
}
