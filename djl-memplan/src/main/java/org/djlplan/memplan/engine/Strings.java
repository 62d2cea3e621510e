package org.djlplan.memplan.engine;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Arrays;

/**
 * Strings as a tensor of TensorFlow Lite holds them, in 32-bit integers: how many, where each
 * begins, where the last one ends; then their bytes. Places count from the first byte.
 */
final class Strings {

    private Strings() {}

    /** Returns strings in a tensor's form. */
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
        // A tensor that nobody has filled yet holds nothing at all.
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
