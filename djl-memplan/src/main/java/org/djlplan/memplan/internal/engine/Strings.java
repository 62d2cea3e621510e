package org.djlplan.memplan.internal.engine;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Arrays;

/**
 * Strings in the format of TensorFlow Lite's tensors: 32-bit integers with the count, the position
 * of each string and the end of the last one, followed by their bytes. Positions are relative to
 * the first byte.
 */
final class Strings {

    private Strings() {}

    /** Returns strings in the format of a tensor. */
    static ByteBuffer pack(String[] strings, Charset charset) {
        byte[][] encoded =
                Arrays.stream(strings)
                        .map(string -> string.getBytes(charset))
                        .toArray(byte[][]::new);
        int bytes = Math.multiplyExact(encoded.length + 2, Integer.BYTES);
        for (byte[] each : encoded) {
            bytes = Math.addExact(bytes, each.length);
        }
        ByteBuffer packed = BufferManager.heap(bytes);
        packed.putInt(encoded.length);
        int place = (encoded.length + 2) * Integer.BYTES;
        for (byte[] each : encoded) {
            packed.putInt(place);
            place += each.length;
        }
        packed.putInt(place);
        for (byte[] each : encoded) {
            packed.put(each);
        }
        return packed.rewind();
    }

    /**
     * Returns the strings of a tensor.
     *
     * @param packed in native byte order
     */
    static String[] unpack(ByteBuffer packed, Charset charset) {
        // A tensor that was never filled is empty.
        String[] strings = new String[packed.limit() == 0 ? 0 : packed.getInt(0)];
        for (int i = 0; i < strings.length; i++) {
            int from = packed.getInt((i + 1) * Integer.BYTES);
            byte[] encoded = new byte[packed.getInt((i + 2) * Integer.BYTES) - from];
            packed.get(from, encoded);
            strings[i] = new String(encoded, charset);
        }
        return strings;
    }
}
