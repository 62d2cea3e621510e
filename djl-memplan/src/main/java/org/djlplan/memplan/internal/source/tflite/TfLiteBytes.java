package org.djlplan.memplan.internal.source.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Optional;
import org.djlplan.memplan.graph.FileRegion;

/**
 * An immutable sequence of bytes that lies in the mapped file or in separate memory, or is computed
 * piece by piece on each read. Nothing is copied. Equal to any other sequence with the same
 * content.
 */
public final class TfLiteBytes {

    public static final TfLiteBytes EMPTY = of(ByteBuffer.allocate(0));

    private static final int HASHED_BYTES = 64;
    private static final int NOT_IN_A_FILE = -1;

    /** Largest number of bytes computed at once for a comparison. */
    private static final int COMPARED_BYTES = 1 << 20;

    private final Source source;
    private final int beginBytes;
    private final int sizeBytes;
    private final int offsetBytes;

    private TfLiteBytes(Source source, int beginBytes, int sizeBytes, int offsetBytes) {
        this.source = source;
        this.beginBytes = beginBytes;
        this.sizeBytes = sizeBytes;
        this.offsetBytes = offsetBytes;
    }

    /** Content that can be read in pieces, in any order, repeatedly; it never changes. */
    @FunctionalInterface
    public interface Source {

        /** Returns {@code sizeBytes} of the content from {@code beginBytes} on. */
        ByteBuffer read(int beginBytes, int sizeBytes);
    }

    private record Window(ByteBuffer content) implements Source {
        @Override
        public ByteBuffer read(int beginBytes, int sizeBytes) {
            return content.slice(beginBytes, sizeBytes);
        }
    }

    /** Returns bytes in memory. The caller must not modify them afterwards. */
    public static TfLiteBytes of(ByteBuffer content) {
        return window(content.slice(), NOT_IN_A_FILE);
    }

    /** Returns bytes in memory. The caller must not modify them afterwards. */
    public static TfLiteBytes of(byte[] content) {
        return of(ByteBuffer.wrap(content));
    }

    /** Returns bytes that are computed on each read and not stored. */
    public static TfLiteBytes computed(int sizeBytes, Source source) {
        return new TfLiteBytes(source, 0, sizeBytes, NOT_IN_A_FILE);
    }

    /** Returns a view of a file, whose bounds were checked. */
    static TfLiteBytes ofFile(ByteBuffer file, int offsetBytes, int sizeBytes) {
        return window(file.slice(offsetBytes, sizeBytes), offsetBytes);
    }

    private static TfLiteBytes window(ByteBuffer content, int offsetBytes) {
        ByteBuffer readOnly = content.asReadOnlyBuffer();
        return new TfLiteBytes(new Window(readOnly), 0, readOnly.remaining(), offsetBytes);
    }

    /**
     * Returns a part of these bytes.
     *
     * @throws IndexOutOfBoundsException if it is not inside
     */
    public TfLiteBytes slice(int fromBytes, int partBytes) {
        Objects.checkFromIndexSize(fromBytes, partBytes, sizeBytes);
        int offset = offsetBytes == NOT_IN_A_FILE ? NOT_IN_A_FILE : offsetBytes + fromBytes;
        return new TfLiteBytes(source, beginBytes + fromBytes, partBytes, offset);
    }

    public int sizeBytes() {
        return sizeBytes;
    }

    /** Returns a new read-only view, little-endian, from position 0. */
    public ByteBuffer buffer() {
        return read(0, sizeBytes);
    }

    /**
     * Returns a new read-only view of a part, little-endian, from position 0.
     *
     * @throws IndexOutOfBoundsException if it is not inside
     */
    public ByteBuffer read(int fromBytes, int partBytes) {
        Objects.checkFromIndexSize(fromBytes, partBytes, sizeBytes);
        return source.read(beginBytes + fromBytes, partBytes)
                .asReadOnlyBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the position of the bytes in the file from which they were read. */
    public Optional<FileRegion> region() {
        return offsetBytes == NOT_IN_A_FILE
                ? Optional.empty()
                : Optional.of(new FileRegion(offsetBytes, sizeBytes()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TfLiteBytes that && sizeBytes == that.sizeBytes && sameBytes(that);
    }

    private boolean sameBytes(TfLiteBytes that) {
        for (int from = 0; from < sizeBytes; ) {
            int part = Math.min(COMPARED_BYTES, sizeBytes - from);
            if (!read(from, part).equals(that.read(from, part))) {
                return false;
            }
            from += part;
        }
        return true;
    }

    @Override
    public int hashCode() {
        // Only the beginning is hashed, because hashing all weights of a model would read the whole
        // file.
        return 31 * sizeBytes + read(0, Math.min(HASHED_BYTES, sizeBytes)).hashCode();
    }

    @Override
    public String toString() {
        return sizeBytes + " bytes" + (offsetBytes < 0 ? "" : " at " + offsetBytes);
    }
}
