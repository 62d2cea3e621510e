package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Tests calls on arrays of djl-plan's engine: they answer the same with and without another engine.
 */
final class OwnArraysTest extends OwnArrays {

    @Test
    void create_directBuffer_isNotCopied() {
        ByteBuffer given = manager.allocateDirect(8);
        NDArray array = manager.create(given, new Shape(2), DataType.FLOAT32);
        given.putFloat(4, 5);
        assertArrayEquals(new float[] {0, 5}, array.toFloatArray());
    }

    @Test
    void create_heapBuffer_isCopied() {
        FloatBuffer given = FloatBuffer.wrap(new float[] {1, 2});
        NDArray array = manager.create(given, new Shape(2), DataType.FLOAT32);
        given.put(0, 7);
        assertArrayEquals(new float[] {1, 2}, array.toFloatArray());
    }

    @Test
    void create_numbersAndRanges_holdsThem() {
        assertValues(manager.full(new Shape(2), 3, DataType.INT64), new Shape(2), 3, 3);
        assertValues(manager.zeros(new Shape(2), DataType.UINT8), new Shape(2), 0, 0);
        assertValues(manager.arange(1, 3, 0.5f), new Shape(4), 1, 1.5, 2, 2.5);
        assertValues(manager.arange(3), new Shape(3), 0, 1, 2);
        assertValues(manager.eye(2), new Shape(2, 2), 1, 0, 0, 1);
        assertValues(manager.linspace(0, 1, 3), new Shape(3), 0, 0.5, 1);
        assertValues(manager.create(7), new Shape(), 7);
        assertValues(manager.create(new boolean[] {true, false}), new Shape(2), 1, 0);
    }

    @Test
    void randomUniform_withOrWithoutPyTorch_isInItsRangeOrUnsupported() {
        if (Engine.hasEngine("PyTorch")) {
            NDArray random = manager.randomUniform(1, 2, new Shape(9));
            assertTrue(random.min().getFloat() >= 1 && random.max().getFloat() <= 2);
        } else {
            assertUnsupported(() -> manager.randomUniform(1, 2, new Shape(9)));
        }
    }

    @Test
    void reshape_otherShapes_shareTheMemory() {
        NDArray array = counted(2, 3);
        NDArray other = array.reshape(3, -1);
        array.set(new float[] {9, 8, 7, 6, 5, 4});
        assertValues(other, new Shape(3, 2), 9, 8, 7, 6, 5, 4);
        assertEquals(new Shape(1, 2, 3), array.expandDims(0).getShape());
        assertEquals(new Shape(2, 3, 1), array.expandDims(-1).getShape());
        assertEquals(new Shape(2, 3), array.expandDims(1).squeeze(1).getShape());
        assertEquals(new Shape(2, 3), array.expandDims(0).expandDims(-1).squeeze().getShape());
        assertEquals(new Shape(6), array.flatten().getShape());
        assertThrows(IllegalArgumentException.class, () -> array.reshape(4, 2));
    }

    @Test
    void arithmetic_floatsAndIntegers_givesNumbersAndTypesOfPyTorch() {
        NDArray array = counted(4);
        assertValues(array.add(1).mul(2).sub(4).div(2), new Shape(4), -1, 0, 1, 2);
        assertValues(array.mul(array).sqrt(), new Shape(4), 0, 1, 2, 3);
        assertValues(array.clip(1, 2), new Shape(4), 1, 1, 2, 2);
        assertValues(counted(1).exp(), new Shape(1), 1);
        NDArray whole = array.toType(DataType.INT32, false);
        assertEquals(DataType.INT32, whole.add(1).getDataType());
        assertEquals(DataType.FLOAT64, whole.add(1.0).getDataType());
        assertValues(whole.div(2), new Shape(4), 0, 0.5, 1, 1.5);
        NDArray own = counted(2).addi(1).muli(counted(2).add(2)).divi(2).subi(counted(2));
        assertValues(own, new Shape(2), 1, 2);
        NDArray rows = counted(2, 2);
        assertValues(rows.sub(manager.create(new float[] {0, 1})), new Shape(2, 2), 0, 0, 2, 2);
        assertValues(rows.sum(new int[] {0}), new Shape(2), 2, 4);
        assertValues(rows.max(new int[] {-1}, true), new Shape(2, 1), 1, 3);
        assertValues(rows.max(), new Shape(), 3);
        assertValues(rows.argMax(1), new Shape(2), 1, 1);
        assertValues(rows.mul(0).softmax(-1), new Shape(2, 2), 0.5, 0.5, 0.5, 0.5);
    }

    @Test
    void otherArithmetic_withOrWithoutPyTorch_isComputedOrRefused() {
        NDArray array = counted(4);
        assertComputed(() -> array.neg().abs(), new Shape(4), 0, 1, 2, 3);
        assertComputed(array::mean, new Shape(), 1.5);
        assertComputed(() -> array.gt(1), new Shape(4), 0, 0, 1, 1);
        NDArray nine = array.mul(9);
        assertComputed(() -> NDArrays.where(array.gt(1), array, nine), new Shape(4), 0, 9, 2, 3);
    }

    @Test
    void toType_outOfRange_isTheNearestNumber() {
        NDArray array = manager.create(new double[] {3e9, -3e9, Double.NaN, -1, 1e300});
        assertArrayEquals(
                new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE, 0, -1, Integer.MAX_VALUE},
                array.toType(DataType.INT32, false).toIntArray());
        assertArrayEquals(
                new int[] {255, 0, 0, 0, 255}, array.toType(DataType.UINT8, false).toUint8Array());
        assertArrayEquals(
                new byte[] {127, -128, 0, -1, 127},
                array.toType(DataType.INT8, false).toByteArray());
        assertEquals(Long.MAX_VALUE, array.toType(DataType.INT64, false).toLongArray()[4]);
        NDArray fractions = manager.create(new float[] {-1.7f, 1.7f, 200});
        assertValues(fractions.toType(DataType.INT32, false), new Shape(3), -1, 1, 200);
        assertValues(fractions.toType(DataType.BOOLEAN, false), new Shape(3), 1, 1, 1);
        assertEquals(200, fractions.toType(DataType.UINT8, false).toUint8Array()[2]);
        NDArray half = manager.create(new float[] {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 65520});
        assertValues(
                half.toType(DataType.FLOAT16, false),
                new Shape(3),
                1,
                1 + 0x1p-9,
                Double.POSITIVE_INFINITY);
    }

    @Test
    void get_arrayOfIndices_givesTheseRowsOrColumns() {
        NDArray array = counted(3, 2);
        NDIndex rows = new NDIndex("{}", manager.create(new int[] {2, 0}));
        assertComputed(() -> array.get(rows), new Shape(2, 2), 4, 5, 0, 1);
        NDIndex columns = new NDIndex(":, {}", manager.create(new long[] {1, 1}));
        assertComputed(() -> array.get(columns), new Shape(3, 2), 1, 1, 3, 3, 5, 5);
    }

    @Test
    void moves_axesAndIndices_giveTheseElements() {
        NDArray array = counted(2, 3, 2);
        assertValues(array.get(1, 2), new Shape(2), 10, 11);
        assertValues(array.get("..., -1"), new Shape(2, 3), 1, 3, 5, 7, 9, 11);
        assertValues(array.get("1, ::2"), new Shape(2, 2), 6, 7, 10, 11);
        assertEquals(new Shape(2, 3, 2, 1), array.get("..., null").getShape());
        assertValues(array.flatten(0, -2).get("2:4"), new Shape(2, 2), 4, 5, 6, 7);
        assertEquals(new Shape(1), manager.create(7f).flatten(0, 0).getShape());
        assertEquals(array.getShape(), array.squeeze(1).getShape());
        assertEquals(array, array.transpose(2, 0, 1).transpose(1, 2, 0));
        assertValues(counted(2, 2).flip(0, 1), new Shape(2, 2), 3, 2, 1, 0);
        assertValues(counted(4, 1).split(2).get(1), new Shape(2, 1), 2, 3);
        assertValues(counted(1, 4).split(new long[] {1, 3}, 1).get(1), new Shape(1, 2), 1, 2);
        NDList two = new NDList(counted(2, 1), counted(2, 1).add(5));
        assertValues(NDArrays.stack(two, 2), new Shape(2, 1, 2), 0, 5, 1, 6);
        assertValues(NDArrays.concat(two, 1), new Shape(2, 2), 0, 5, 1, 6);
        NDArray wide = counted(2, 1).transpose().broadcast(3, -1);
        assertValues(wide.reshape(6), new Shape(6), 0, 1, 0, 1, 0, 1);
        assertUnsupported(() -> wide.addi(1));
        counted(2, 2).copyTo(array.get("0, :2"));
        assertValues(array.get("0"), new Shape(3, 2), 0, 1, 2, 3, 4, 5);
    }

    @Test
    void calls_wrongArguments_areRefusedWithTheReason() {
        NDArray flat = counted(6);
        NDArray place = manager.create(new int[] {0});
        assertRefused(a -> a.flatten(1, 0), "axes 1 to 0");
        assertRefused(a -> a.flatten(0, 2), "axis 2 of 2");
        assertRefused(a -> a.flip(0, -2), "an axis twice: [0, -2]");
        assertRefused(a -> a.transpose(0, 0), "axes [0, 0] of an array");
        assertRefused(a -> a.transpose(0), "axes [0] of an array");
        assertRefused(a -> a.swapAxes(0, -3), "axis -3 of 2");
        assertRefused(a -> a.squeeze(new int[] {0}), "has no length of 1");
        assertRefused(a -> a.reshape(-1, -1), "two open dimensions");
        assertRefused(a -> a.reshape(0, -1), "an array of shape (2, 3)");
        assertRefused(a -> a.reshape(4, -1), "an array of shape (2, 3)");
        assertRefused(a -> a.broadcast(3), "cannot be broadcast");
        assertRefused(a -> a.broadcast(4, 3), "cannot be broadcast");
        assertRefused(a -> a.broadcast(-1, 2, 3), "cannot be broadcast");
        assertRefused(a -> a.split(0), "2 in 0 equal parts");
        assertRefused(a -> a.split(2, 1), "3 in 2 equal parts");
        assertRefused(a -> a.split(new long[] {2, 1}), "2 at [2, 1]");
        assertRefused(a -> a.split(new long[] {3}), "2 at [3]");
        assertRefused(a -> a.concat(flat), "joined");
        assertRefused(a -> a.concat(counted(2, 2)), "joined");
        assertRefused(a -> a.stack(flat), "stacked");
        assertRefused(a -> a.get("-3"), "index -3 of 2");
        assertRefused(a -> a.get("0, 0, 0"), "an index of 3 dimensions");
        assertRefused(a -> a.get("::-1"), "a slice in steps of -1");
        assertRefused(a -> a.addi(counted(4, 2, 3)), "a result of type float32");
        assertRefused(a -> a.toType(DataType.INT32, false).divi(2), "a result of");
        assertRefused(a -> a.copyTo(flat), "into one of float32 and shape (6)");
        assertRefused(a -> a.copyTo(a.toType(DataType.INT8, false)), "of int8");
        assertRefused(a -> a.setScalar(new NDIndex("0"), 7), "not that of one element");
        assertRefused(a -> a.setScalar(new NDIndex("{}", place), 7), "not that of one element");
        assertRefused(a -> a.toStringArray(), "no strings: float32");
        assertRefused(a -> a.toType(DataType.COMPLEX64, false), "of type complex64");
        assertRefused(a -> a.toType(DataType.UNKNOWN, false), "of type unknown");
    }

    /** Asserts that an array of shape (2, 3) rejects a call and is unchanged. */
    private void assertRefused(Consumer<NDArray> call, String message) {
        NDArray array = counted(2, 3);
        Exception e = assertThrows(RuntimeException.class, () -> call.accept(array));
        assertTrue(e.getMessage().contains(message), e::toString);
        assertValues(array, new Shape(2, 3), 0, 1, 2, 3, 4, 5);
    }

    @Test
    void contentEquals_otherTypeShapeOrNumbers_isFalse() {
        NDArray array = manager.create(new float[] {0, 1});
        assertTrue(array.contentEquals(manager.create(new float[] {-0f, 1})));
        assertFalse(array.contentEquals((NDArray) null));
        assertFalse(array.contentEquals(manager.create(new float[] {0, 1, 2})));
        assertFalse(array.contentEquals(manager.create(new int[] {0, 1})));
        assertFalse(array.contentEquals(manager.create(new float[] {0, 2})));
        NDArray notANumber = manager.create(Float.NaN);
        assertFalse(notANumber.contentEquals(notANumber.duplicate()));
    }

    @Test
    void concat_typesThatDiffer_holdsTheNumbersOfBoth() {
        NDArray flags = manager.create(new boolean[] {true});
        NDArray bytes = manager.create(new byte[] {1});
        NDArray pixels = bytes.toType(DataType.UINT8, false);
        NDArray whole = manager.create(new int[] {300});
        NDArray halves = manager.create(new float[] {0.5f}).toType(DataType.FLOAT16, false);
        assertEquals(DataType.INT8, flags.concat(bytes).getDataType());
        assertEquals(DataType.INT16, pixels.concat(bytes).getDataType());
        assertEquals(DataType.INT32, pixels.concat(whole).getDataType());
        assertEquals(DataType.FLOAT16, halves.concat(whole).getDataType());
        assertValues(manager.create(2.5).reshape(1).concat(halves), new Shape(2), 2.5, 0.5);
    }

    @Test
    void numbers_ofEachTypeOrNone_answerAsPyTorch() {
        NDArray flags = manager.create(new boolean[] {true, true});
        assertValues(flags.sum(), new Shape(), 2);
        assertEquals(DataType.INT64, flags.sum().getDataType());
        NDArray none = manager.zeros(new Shape(2, 0));
        assertValues(none.sum(new int[] {1}), new Shape(2), 0, 0);
        assertEquals(none.getShape(), none.softmax(1).getShape());
        NDArray whole = counted(2, 2).toType(DataType.INT32, false);
        assertValues(whole.argMax(0), new Shape(2), 1, 1);
        assertComputed(() -> whole.clip(1, 2), new Shape(2, 2), 1, 1, 2, 2);
        NDArray notANumber = manager.create(new float[] {1, Float.NaN, 3});
        assertEquals(1, notANumber.argMax().getLong());
        assertEquals(Float.NaN, notANumber.max().getFloat());
        long exact = (1L << 60) + 1;
        NDArray large = manager.create(new long[] {exact, 5, exact - 1});
        assertEquals(exact + 1, large.add(1).toLongArray()[0]);
        assertEquals(2 * exact + 4, large.sum().getLong());
        assertEquals(0, large.argMax().getLong());
        NDArray half = manager.create(0.5f).toType(DataType.FLOAT16, false);
        assertComputed(() -> half.add(1), new Shape(), 1.5);
        assertThrows(RuntimeException.class, () -> whole.softmax(0));
        assertThrows(RuntimeException.class, () -> whole.sum(new int[] {0, -2}));
    }

    @Test
    void set_mask_setsTheseElementsAndGetReadsMasksAndPicks() {
        NDArray array = counted(3);
        NDArray mask = manager.create(new boolean[] {true, false, true});
        assertComputed(() -> array.set(mask, 9));
        assertComputed(() -> array.get(mask), new Shape(2), 9, 9);
        NDArray places = manager.create(new int[] {2, 0}, new Shape(2, 1));
        NDIndex pick = new NDIndex(":").addPickDim(places);
        assertComputed(() -> counted(2, 3).get(pick), new Shape(2, 1), 2, 3);
    }

    @Test
    void get_sliceBeyondTheEnd_endsWhereTheArrayDoes() {
        NDArray array = counted(3);
        assertValues(array.get("1:9"), new Shape(2), 1, 2);
        assertValues(array.get("-9:2"), new Shape(2), 0, 1);
        assertValues(array.get("5:9"), new Shape(0));
        assertThrows(IllegalArgumentException.class, () -> array.get("3"));
    }

    @Test
    void max_ofNothing_isRefused() {
        NDArray empty = manager.create(new Shape(0));
        assertThrows(RuntimeException.class, empty::max);
        assertThrows(RuntimeException.class, empty::argMax);
    }

    @Test
    void arithmetic_typeThatPyTorchDoesNotHave_isRefused() {
        NDArray array = counted(2).toType(DataType.INT16, false);
        assertUnsupported(() -> array.add(1));
        assertUnsupported(() -> array.addi(array));
        assertUnsupported(array::sort);
        assertUnsupported(() -> counted(2).oneHot(3, DataType.INT16));
        assertUnsupported(() -> manager.randomUniform(0, 1, new Shape(2), DataType.UINT16));
        assertValues(array.concat(array), new Shape(4), 0, 1, 0, 1);
    }

    /** PyTorch's engine would end the JVM. */
    @Test
    void mod_leastNumberAndMinusOne_isRefused() {
        NDArray array = manager.create(new int[] {Integer.MIN_VALUE, 5});
        NDArray longs = manager.create(new long[] {Long.MIN_VALUE, 5});
        NDArray minusOne = manager.create(new int[] {-1});
        assertUnsupported(() -> array.mod(-1));
        assertUnsupported(() -> longs.mod(manager.create(new long[] {3, -1})));
        assertUnsupported(() -> minusOne.getNDArrayInternal().rmod(Integer.MIN_VALUE));
        assertComputed(() -> array.mod(3), new Shape(2), 1, 2);
    }
}
