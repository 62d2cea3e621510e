package org.djlplan.integration.current;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Lists calls on arrays by name, and makes arrays of each type. */
final class ArrayCalls {

    static final DataType[] TYPES = {
        DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT16, DataType.UINT8,
        DataType.INT8, DataType.INT32, DataType.INT64, DataType.BOOLEAN
    };

    private static final double[] FRACTIONS = {
        0, 1, Double.NaN, -1.5, Double.POSITIVE_INFINITY, 3e9, -0.0, 2.5, 1e-42, 65504, 0.1, 1e300
    };

    private static final long[] WHOLE = {
        0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, (1L << 53) + 1, 127, 128, 255, 1L << 31, -7, 32768
    };

    private static final String[] INDICES = {
        ":", "0", "-1", "9", "1:", "::2", "1:1",
        ":, 0", "0, 1", "..., 0", "0, ...", ":, 1:3", "1:2, ..., :1", "null, 0"
    };

    private final Map<String, Function<NDArray, Object>> calls = new LinkedHashMap<>();

    private ArrayCalls() {}

    /** Returns the calls that compute or convert elements, or change the array. */
    static Map<String, Function<NDArray, Object>> arithmetic() {
        ArrayCalls listed = new ArrayCalls();
        listed.listArithmetic();
        return listed.calls;
    }

    /** Returns the calls that only move elements, whatever their type. */
    static Map<String, Function<NDArray, Object>> moves() {
        ArrayCalls listed = new ArrayCalls();
        listed.listMoves();
        return listed.calls;
    }

    /**
     * Returns an array of a type.
     *
     * @param tame whether the elements are 1, 2, 5, 10 …; otherwise NaN, infinities and extremes
     *     occur
     */
    static NDArray create(NDManager manager, DataType type, boolean tame, long... shape) {
        int count = (int) new Shape(shape).size();
        int width = type.getNumOfBytes();
        ByteBuffer values = ByteBuffer.allocate(count * width).order(ByteOrder.nativeOrder());
        for (int i = 0; i < count; i++) {
            double fraction = tame ? i * i + 1 : FRACTIONS[i % FRACTIONS.length];
            long number = tame ? i * i + 1 : WHOLE[i % WHOLE.length];
            switch (type) {
                case FLOAT32 -> values.putFloat((float) fraction);
                case FLOAT64 -> values.putDouble(fraction);
                case INT32, UINT32 -> values.putInt((int) number);
                case INT64, UINT64 -> values.putLong(number);
                case BOOLEAN -> values.put((byte) (i % 3 == 1 ? 0 : 1));
                case UINT8, INT8 -> values.put((byte) number);
                default -> values.putShort((short) (0x3c00 + 64 * i));
            }
        }
        return manager.create(values.rewind(), new Shape(shape), type);
    }

    /** Returns another array of the type of an array. */
    private static NDArray other(NDArray array, long... shape) {
        return create(array.getManager(), array.getDataType(), true, shape);
    }

    private static NDArray alike(NDArray array) {
        return other(array, array.getShape().getShape());
    }

    private static NDArray alike(NDArray array, DataType type) {
        return create(array.getManager(), type, true, array.getShape().getShape());
    }

    private static NDArray mask(NDArray array) {
        return alike(array, DataType.BOOLEAN);
    }

    /** Adds a call that changes the array. */
    private void change(String name, Consumer<NDArray> call) {
        calls.put(
                name,
                array -> {
                    call.accept(array);
                    return "changed";
                });
    }

    private void listArithmetic() {
        for (Number number : new Number[] {0, 1, 2.5f, -3L, (byte) 7, 1e10, Float.NaN}) {
            calls.put("add " + number, a -> a.add(number));
            calls.put("sub " + number, a -> a.sub(number));
            calls.put("mul " + number, a -> a.mul(number));
            calls.put("div " + number, a -> a.div(number));
            change("addi " + number, a -> a.addi(number));
            change("divi " + number, a -> a.divi(number));
        }
        Map<String, UnaryOperator<NDArray>> operands = new LinkedHashMap<>();
        operands.put("alike", ArrayCalls::alike);
        operands.put("row", a -> other(a, 3));
        operands.put("scalar", a -> create(a.getManager(), DataType.FLOAT64, true));
        operands.put("flag", a -> create(a.getManager(), DataType.BOOLEAN, true, 1));
        operands.put("bytes", a -> alike(a, DataType.INT8));
        operands.put("longs", a -> alike(a, DataType.INT64));
        operands.put("seven", a -> other(a, 7));
        operands.forEach(
                (name, operand) -> {
                    calls.put("add " + name, a -> a.add(operand.apply(a)));
                    calls.put("sub " + name, a -> a.sub(operand.apply(a)));
                    calls.put("mul " + name, a -> a.mul(operand.apply(a)));
                    calls.put("div " + name, a -> a.div(operand.apply(a)));
                    calls.put("concat " + name, a -> a.concat(operand.apply(a)));
                    calls.put("gt " + name, a -> a.gt(operand.apply(a)));
                    change("addi " + name, a -> a.addi(operand.apply(a)));
                    change("subi " + name, a -> a.subi(operand.apply(a)));
                    change("muli " + name, a -> a.muli(operand.apply(a)));
                });
        calls.put("clip", a -> a.clip(-1, 2L));
        calls.put("sqrt", NDArray::sqrt);
        calls.put("exp", NDArray::exp);
        calls.put("sum", NDArray::sum);
        calls.put("max", NDArray::max);
        calls.put("argMax", NDArray::argMax);
        calls.put("countNonzero", NDArray::countNonzero);
        calls.put("abs", NDArray::abs);
        calls.put("mean", NDArray::mean);
        calls.put("booleanMask", a -> a.booleanMask(mask(a)));
        calls.put("get mask", a -> a.get(mask(a)));
        calls.put("contentEquals", a -> a.contentEquals(a.duplicate()));
        calls.put("contentEquals 1", a -> a.contentEquals(1));
        calls.put("allClose", a -> a.allClose(a.duplicate()));
        for (int axis : new int[] {0, 1, -1, 3}) {
            calls.put("sum " + axis, a -> a.sum(new int[] {axis}));
            calls.put("max " + axis, a -> a.max(new int[] {axis}, true));
            calls.put("softmax " + axis, a -> a.softmax(axis));
            calls.put("argMax " + axis, a -> a.argMax(axis));
            calls.put("cumSum " + axis, a -> a.cumSum(axis));
        }
        for (DataType type : TYPES) {
            calls.put("toType " + type, a -> a.toType(type, true));
        }
        for (String index : INDICES) {
            change("set " + index, a -> a.set(new NDIndex(index), 2.5));
            change("set array " + index, a -> a.set(new NDIndex(index), other(a, 1)));
        }
        calls.put("toArray", a -> a.toArray());
        calls.put("toDoubleArray", a -> a.toDoubleArray());
        calls.put("toFloatArray", a -> a.toFloatArray());
        calls.put("toIntArray", a -> a.toIntArray());
        calls.put("toLongArray", a -> a.toLongArray());
        calls.put("toUint8Array", a -> a.toUint8Array());
        calls.put("toBooleanArray", a -> a.toBooleanArray());
        calls.put("getFloat", a -> a.getFloat(1));
        calls.put("getLong", a -> a.getLong(0, 1));
    }

    private void listMoves() {
        long[][] shapes = {{6}, {3, 2}, {-1}, {1, 2, -1}, {0}, {}, {2, 2, 3}};
        for (long[] shape : shapes) {
            calls.put("reshape " + new Shape(shape), a -> a.reshape(shape));
            calls.put("broadcast " + new Shape(shape), a -> a.broadcast(shape));
        }
        for (int axis : new int[] {0, 1, -1, 3}) {
            calls.put("expandDims " + axis, a -> a.expandDims(axis));
            calls.put("squeeze " + axis, a -> a.squeeze(axis));
            calls.put("flip " + axis, a -> a.flip(axis));
            calls.put("swapAxes " + axis, a -> a.swapAxes(0, axis));
            calls.put("split " + axis, a -> a.split(new long[] {1}, axis));
            calls.put("stack " + axis, a -> NDArrays.stack(new NDList(a, alike(a)), axis));
            calls.put("concat " + axis, a -> NDArrays.concat(new NDList(a, alike(a)), axis));
        }
        for (String index : INDICES) {
            calls.put("get " + index, a -> a.get(index));
        }
        calls.put("flatten", NDArray::flatten);
        calls.put("squeeze", NDArray::squeeze);
        calls.put("transpose", a -> a.transpose());
        calls.put("transpose 1 0", a -> a.transpose(1, 0));
        calls.put("transpose 2 0 1", a -> a.transpose(2, 0, 1));
        calls.put("duplicate", NDArray::duplicate);
        calls.put("split", a -> a.split(1));
        calls.put("getScalar", a -> a.getScalar(1));
        calls.put("toByteArray", a -> a.toByteArray());
    }
}
