package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.cli.OutputDifference.Limit;
import org.djlplan.cli.OutputDifference.Written;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutputDifferenceTest {

    @TempDir Path folder;

    @Test
    void between_equalBytes_isIdentical() throws IOException {
        OutputDifference difference = between(write("a", floats(1, 2)), write("b", floats(1, 2)));
        assertTrue(difference.identical());
        assertEquals(0, difference.maxRelativeError().getAsDouble());
    }

    @Test
    void between_oneElementOff_isRelativeToTheLargestElement() throws IOException {
        OutputDifference difference =
                between(write("a", floats(1, -4)), write("b", floats(1.5f, -4)));
        assertFalse(difference.identical());
        assertEquals(0.125, difference.maxRelativeError().getAsDouble());
        assertTrue(difference.isAccepted(0.125));
        assertFalse(difference.isAccepted(0.124));
    }

    @Test
    void isAccepted_zerosOfBothSigns_onlyWithATolerance() throws IOException {
        OutputDifference difference =
                between(write("a", floats(0f, 1)), write("b", floats(-0f, 1)));
        assertFalse(difference.isAccepted(0));
        assertTrue(difference.isAccepted(1e-6));
        assertEquals("the signs of zeros, or the bits of undefined elements", difference.text());
    }

    /** The bits of two elements, and their difference: relative, in steps, or in elements. */
    @ParameterizedTest
    @CsvSource({
        "float16, 2, 3c00, 3e00, 0.5",
        "bfloat16, 2, 3f80, 3fc0, 0.5",
        "uint8, 1, c8, 64, 100",
        "uint16, 2, ff00, fe00, 256",
        "uint32, 4, ffffff00, fffffe00, 1",
        "int64, 8, 8000000000000000, c000000000000000, 1",
        "complex64, 4, 3f800000, 3fc00000, 0.5"
    })
    void between_everyType_readsItsElements(
            String type, int bytes, String a, String b, double largest) throws IOException {
        OutputDifference difference =
                between(write("a", type, element(a, bytes)), write("b", type, element(b, bytes)));
        assertEquals(largest, difference.outputs().get(0).largest(), 1e-12);
    }

    private static ByteBuffer element(String hex, int bytes) {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        long bits = Long.parseUnsignedLong(hex, 16);
        switch (bytes) {
            case Byte.BYTES -> buffer.put((byte) bits);
            case Short.BYTES -> buffer.putShort((short) bits);
            case Integer.BYTES -> buffer.putInt((int) bits);
            default -> buffer.putLong(bits);
        }
        return buffer.flip();
    }

    @Test
    void between_zerosExpected_isRelativeToOne() throws IOException {
        OutputDifference difference =
                between(write("a", floats(0, 0)), write("b", floats(0.25f, 0)));
        assertEquals(0.25, difference.maxRelativeError().getAsDouble());
    }

    @Test
    void agrees_floats_byTheLimit() throws IOException {
        OutputDifference difference = between(write("a", floats(1)), write("b", floats(1.5f)));
        assertTrue(difference.agrees(List.of(new Limit(0.5, 1))));
        assertFalse(difference.agrees(List.of(new Limit(0.49, 1))));
        assertEquals("5e-1", difference.text());
        for (ByteBuffer other : List.of(floats(Float.NaN), floats(1, 1))) {
            OutputDifference never = between(write("a", floats(1)), write("b", other));
            assertTrue(never.maxRelativeError().isEmpty());
            assertFalse(never.isAccepted(Double.MAX_VALUE));
            assertFalse(never.agrees(List.of(new Limit(1e9, 1))));
        }
    }

    @Test
    void agrees_quantized_acceptsOneStepForAnyLimit() throws IOException {
        OutputDifference one = between(bytes(3), bytes(4));
        assertTrue(one.agrees(List.of(new Limit(0, 1))));
        assertEquals("1 step", one.text());
        OutputDifference two = between(bytes(3), bytes(5));
        assertFalse(two.agrees(List.of(new Limit(1e9, 1))));
        assertTrue(two.agrees(List.of(new Limit(0, 2))));
        assertEquals("2 steps", two.text());
    }

    @Test
    void agrees_otherIntegers_onlyIfEqual() throws IOException {
        OutputDifference difference = between(ids(100_000), ids(100_001));
        assertFalse(difference.agrees(List.of(new Limit(1, 1))));
    }

    private Written bytes(int value) throws IOException {
        return write("bytes" + value, "int8", ByteBuffer.wrap(new byte[] {(byte) value}));
    }

    private Written ids(int value) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        return write("ids" + value, "int32", buffer.putInt(value).flip());
    }

    @Test
    void sha256_knownBytes_isTheStandardsValue() throws IOException {
        try (ModelRun.OutputFile out = new ModelRun.OutputFile(folder.resolve("abc"))) {
            out.accept("uint8", ByteBuffer.wrap(new byte[] {'a', 'b', 'c'}));
            assertEquals(
                    // FIPS 180-2, appendix B.1
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    out.sha256());
        }
    }

    private static OutputDifference between(Written a, Written b) throws IOException {
        return OutputDifference.between(a, b);
    }

    private Written write(String name, ByteBuffer floats) throws IOException {
        return write(name, "float32", floats);
    }

    private Written write(String name, String type, ByteBuffer values) throws IOException {
        Path file = folder.resolve(name);
        try (ModelRun.OutputFile out = new ModelRun.OutputFile(file)) {
            out.accept(type, values);
            return new Written(file, out.parts());
        }
    }

    private static ByteBuffer floats(float... values) {
        ByteBuffer buffer =
                ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.nativeOrder());
        for (float value : values) {
            buffer.putFloat(value);
        }
        return buffer.flip();
    }
}
