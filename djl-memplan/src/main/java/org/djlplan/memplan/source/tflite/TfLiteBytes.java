package org.djlplan.memplan.source.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.djlplan.memplan.graph.FileRegion;

/**
 * An immutable run of bytes: a window on the mapped file when it was read, on memory of its own
 * when it was built. Nothing is copied. Equal to any other run with the same content.
 */
public final class TfLiteBytes {

    /** No bytes. */
    public static final TfLiteBytes EMPTY = new TfLiteBytes(ByteBuffer.allocate(0), -1);

    private static final int HASHED_BYTES = 64;
    private static final int NOT_IN_A_FILE = -1;

    private final ByteBuffer content;
    private final int offsetBytes;

    private TfLiteBytes(ByteBuffer content, int offsetBytes) {
        this.content = content.asReadOnlyBuffer();
        this.offsetBytes = offsetBytes;
    }

    /** Bytes that are not from a file. The caller must not write to them any more. */
    public static TfLiteBytes of(ByteBuffer content) {
        return new TfLiteBytes(content.slice(), NOT_IN_A_FILE);
    }

    /** Bytes that are not from a file. The caller must not write to them any more. */
    public static TfLiteBytes of(byte[] content) {
        return of(ByteBuffer.wrap(content));
    }

    /** A window on a file, whose bounds were checked. */
    static TfLiteBytes ofFile(ByteBuffer file, int offsetBytes, int sizeBytes) {
        return new TfLiteBytes(file.slice(offsetBytes, sizeBytes), offsetBytes);
    }

    /** Returns the number of bytes. */
    public int sizeBytes() {
        return content.remaining();
    }

    /** Returns a new read-only view, little-endian, from position 0. */
    public ByteBuffer buffer() {
        return content.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns where the bytes lie in the file they were read from. */
    public Optional<FileRegion> region() {
        return offsetBytes == NOT_IN_A_FILE
                ? Optional.empty()
                : Optional.of(new FileRegion(offsetBytes, sizeBytes()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TfLiteBytes that && content.equals(that.content);
    }

    @Override
    public int hashCode() {
        // The head only: to hash all of a model's weights would read the whole file.
        return 31 * sizeBytes() + content.slice(0, Math.min(HASHED_BYTES, sizeBytes())).hashCode();
    }

    @Override
    public String toString() {
        return sizeBytes() + " bytes" + (offsetBytes < 0 ? "" : " at " + offsetBytes);
    }
}
