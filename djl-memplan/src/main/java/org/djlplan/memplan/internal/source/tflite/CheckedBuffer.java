package org.djlplan.memplan.internal.source.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of an untrusted file. Every access is checked against the end. Every read counts
 * against a budget proportional to the file's size. Without this budget, a small file could require
 * any amount of memory, because many offsets in a flatbuffer may point to the same place.
 */
final class CheckedBuffer {

    /** How often, on average, each byte of the file may be read. */
    private static final long VISITS_PER_BYTE = 2;

    private static final long FREE_BYTES = 1024;

    private final ByteBuffer file;
    private final String fileName;
    private final List<String> notCarried = new ArrayList<>();
    private long budgetBytes;

    CheckedBuffer(ByteBuffer file, String fileName) {
        this.file = file.slice().order(ByteOrder.LITTLE_ENDIAN);
        this.fileName = fileName;
        this.budgetBytes = VISITS_PER_BYTE * sizeBytes() + FREE_BYTES;
    }

    int sizeBytes() {
        return file.capacity();
    }

    byte int8(long position, TreePath path) throws TfLiteFormatException {
        return file.get(require(position, 1, path));
    }

    int uint16(long position, TreePath path) throws TfLiteFormatException {
        return Short.toUnsignedInt(file.getShort(require(position, 2, path)));
    }

    int int32(long position, TreePath path) throws TfLiteFormatException {
        return file.getInt(require(position, 4, path));
    }

    long uint32(long position, TreePath path) throws TfLiteFormatException {
        return Integer.toUnsignedLong(int32(position, path));
    }

    long int64(long position, TreePath path) throws TfLiteFormatException {
        return file.getLong(require(position, 8, path));
    }

    /** Returns the target of the offset at {@code position}. */
    int follow(long position, TreePath path) throws TfLiteFormatException {
        long offset = uint32(position, path);
        if (offset == 0) {
            throw error(position, path, "an offset to itself");
        }
        return require(position + offset, 4, path);
    }

    /**
     * Returns the number of elements of the vector at a position, after checking that all of them
     * lie in the file.
     */
    int length(int at, int elementBytes, TreePath path) throws TfLiteFormatException {
        long length = uint32(at, path);
        require(at + 4L, length * elementBytes, path);
        return (int) length;
    }

    String string(int at, TreePath path) throws TfLiteFormatException {
        int length = length(at, 1, path);
        spend(length, at, path);
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(window(at + 4, length).buffer())
                    .toString();
        } catch (CharacterCodingException e) {
            throw error(at, path, "not UTF-8");
        }
    }

    TfLiteBytes window(int position, int lengthBytes) {
        return TfLiteBytes.ofFile(file, position, lengthBytes);
    }

    /**
     * Returns {@code position} after checking that {@code lengthBytes} from there lie in the file.
     */
    int require(long position, long lengthBytes, TreePath path) throws TfLiteFormatException {
        if (position < 0 || lengthBytes > sizeBytes() - position) {
            throw error(
                    position,
                    path,
                    lengthBytes + " bytes here are outside of the file's " + sizeBytes());
        }
        return (int) position;
    }

    /** Subtracts bytes from the budget. */
    void spend(long bytes, long position, TreePath path) throws TfLiteFormatException {
        budgetBytes -= bytes;
        if (budgetBytes < 0) {
            throw error(position, path, "too many offsets point to the same places");
        }
    }

    /** Records data that is not in the known schema. */
    void doNotCarry(TreePath path) {
        notCarried.add(path.toString());
    }

    List<String> notCarried() {
        return notCarried;
    }

    TfLiteFormatException error(long position, TreePath path, String problem) {
        return new TfLiteFormatException(message(position, path.toString(), problem));
    }

    String message(long position, String path, String problem) {
        String at = path.isEmpty() ? "" : ", " + path;
        return fileName + ": byte " + position + at + ": " + problem;
    }
}
