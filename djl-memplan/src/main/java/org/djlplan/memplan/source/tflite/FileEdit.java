package org.djlplan.memplan.source.tflite;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Bytes that replace as many others in a file.
 *
 * @param offsetBytes where they begin
 * @param bytes what is to stand there
 */
public record FileEdit(long offsetBytes, TfLiteBytes bytes) {

    public FileEdit {
        checkArgument(offsetBytes >= 0, "negative offset: %s", offsetBytes);
    }

    /** Returns one past the last byte that is replaced. */
    public long endBytes() {
        return offsetBytes + bytes.sizeBytes();
    }
}
