package org.djlplan.memplan.internal.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class StringsTest {

    /** The example of TensorFlow Lite's string_util.h: count, offsets, bytes. */
    @Test
    void pack_strings_liesAsTheEngineReadsIt() {
        ByteBuffer expected = ByteBuffer.allocate(4 * 5 + 5).order(ByteOrder.nativeOrder());
        expected.putInt(3).putInt(20).putInt(22).putInt(22).putInt(25);
        expected.put("abcde".getBytes(StandardCharsets.UTF_8)).rewind();
        ByteBuffer packed = Strings.pack(new String[] {"ab", "", "cde"}, StandardCharsets.UTF_8);
        assertEquals(expected, packed);
    }

    @Test
    void unpack_packed_isTheSame() {
        String[] strings = {"", "grün", "\0", "日本"};
        for (String[] each : new String[][] {strings, {}}) {
            ByteBuffer packed = Strings.pack(each, StandardCharsets.UTF_16);
            assertArrayEquals(each, Strings.unpack(packed, StandardCharsets.UTF_16));
        }
    }

    @Test
    void unpack_nothing_isNoString() {
        assertEquals(0, Strings.unpack(ByteBuffer.allocate(0), StandardCharsets.UTF_8).length);
    }
}
