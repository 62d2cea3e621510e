package org.djlplan.integration.current;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import org.djlplan.integration.current.ArraysReferenceProgram.Call;

/**
 * Lists the calls that djl-plan's arrays reject or answer differently from PyTorch's, with the
 * reason.
 */
final class ArrayRefusals {

    /**
     * The methods that answer for types that PyTorch's engine does not have: access to bytes, and
     * conversions.
     */
    static final Set<String> ODD_ANSWERS =
            Set.of(
                    "getDataType",
                    "toType",
                    "toArray",
                    "toShortArray",
                    "toUnsignedShortArray",
                    "toUnsignedIntArray",
                    "encode",
                    "contentEquals",
                    "zerosLike",
                    "onesLike",
                    "like",
                    "allClose",
                    "set",
                    "setScalar",
                    "toUint8Array",
                    "toIntArray",
                    "getByte",
                    "getInt",
                    "getUint8",
                    "countNonzero",
                    "all",
                    "any",
                    "none");

    /**
     * A reason to reject calls.
     *
     * @param why the reason
     * @param covers whether a call may be rejected with an error for this reason
     */
    record Refusal(String why, BiPredicate<Call, Throwable> covers) {}

    private static final Set<String> NOT_IN_ADAPTER =
            Set.of(
                    "take",
                    "put",
                    "scatter",
                    "modi",
                    "powi",
                    "signi",
                    "negi",
                    "fft",
                    "ifft",
                    "rfft",
                    "irfft",
                    "stft",
                    "fft2",
                    "ifft2",
                    "pad",
                    "unique",
                    "batchMatMul",
                    "xlogy",
                    "topK",
                    "complex",
                    "real",
                    "conj",
                    "diff",
                    "setRequiresGradient",
                    "getGradient",
                    "stopGradient",
                    "scaleGradient");

    /** Methods that PyTorch's engine does not have, either. */
    private static final Set<String> NOWHERE =
            Set.of("sequenceMask", "trace", "batchDot", "asinh", "acosh", "atanh");

    /** Methods that are computed without another engine. */
    private static final Set<String> ALONE =
            Set.of(
                    "add",
                    "sub",
                    "mul",
                    "div",
                    "addi",
                    "subi",
                    "muli",
                    "divi",
                    "clip",
                    "sqrt",
                    "exp",
                    "sum",
                    "max",
                    "softmax",
                    "argMax",
                    "countNonzero",
                    "reshape",
                    "flatten",
                    "expandDims",
                    "squeeze",
                    "transpose",
                    "swapAxes",
                    "flip",
                    "broadcast",
                    "split",
                    "stack",
                    "concat",
                    "get",
                    "getScalar",
                    "duplicate",
                    "getShape",
                    "size",
                    "isScalar",
                    "isEmpty",
                    "isSparse",
                    "getSparseFormat",
                    "hasGradient",
                    "toDevice",
                    "intern",
                    "copyTo",
                    "shapeEquals",
                    "getDataType",
                    "toType",
                    "toArray",
                    "toByteArray",
                    "toByteBuffer",
                    "toDoubleArray",
                    "toFloatArray",
                    "toIntArray",
                    "toLongArray",
                    "toShortArray",
                    "toUint8Array",
                    "toBooleanArray",
                    "toUnsignedIntArray",
                    "toUnsignedShortArray",
                    "encode",
                    "contentEquals",
                    "zerosLike",
                    "onesLike",
                    "like",
                    "allClose",
                    "set",
                    "setScalar",
                    "getLong",
                    "getDouble",
                    "getFloat",
                    "getInt",
                    "getByte",
                    "getUint8",
                    "getBoolean");

    private static final List<Refusal> ALWAYS =
            List.of(
                    new Refusal(
                            "DJL's NDArrayAdapter does not hand these to another engine",
                            (call, error) -> NOT_IN_ADAPTER.contains(call.name())),
                    new Refusal(
                            "PyTorch's engine does not have these either",
                            (call, error) -> NOWHERE.contains(call.name())),
                    new Refusal(
                            "DJL sets arrays to buffers of other elements, by their bits",
                            (call, error) ->
                                    call.name().equals("set") && says(error, "for elements of")),
                    new Refusal(
                            "parts are equal, as DJL documents",
                            (call, error) ->
                                    call.name().equals("split") && says(error, "equal parts")),
                    new Refusal(
                            "PyTorch's engine does not have these types, and would end the JVM",
                            (call, error) ->
                                    !ArraySamples.SHARED.contains(call.sample().type())
                                            || call.has("int16")),
                    new Refusal(
                            "scalars have no axes",
                            (call, error) ->
                                    call.sample().shape().isScalar() && says(error, "axis ")),
                    new Refusal(
                            "PyTorch joins empty arrays of one dimension with any others",
                            (call, error) ->
                                    call.name().equals("concat")
                                            && call.sample().shape().size() == 0),
                    new Refusal(
                            "DJL counts the ends of a slice modulo the length",
                            (call, error) -> isFarSlice(call)),
                    new Refusal(
                            "PyTorch copies bytes between types and shapes that differ",
                            (call, error) ->
                                    call.name().equals("copyTo") && says(error, "into one of")),
                    new Refusal(
                            "PyTorch has no strings here: it returns null",
                            (call, error) -> call.name().equals("toStringArray")),
                    new Refusal(
                            "PyTorch lets go of a view when it is set to a buffer",
                            (call, error) ->
                                    call.name().equals("set")
                                            && call.sample().kind().equals("broadcast")
                                            && says(error, "shares elements")),
                    new Refusal(
                            "PyTorch does not look at the axis if there is nothing to split",
                            (call, error) ->
                                    call.name().equals("split")
                                            && call.has("[]")
                                            && says(error, "axis ")));

    private static final Refusal UNKNOWN =
            new Refusal(
                    "UINT8 and INT8 make INT16, which PyTorch's engine calls unknown",
                    (call, error) -> says(error, "unknown") || says(error, "of type int16"));

    private static final Refusal MISSING =
            new Refusal(
                    "what is not computed without another engine",
                    (call, error) -> says(error, "add ai.djl.pytorch:pytorch-engine"));

    private ArrayRefusals() {}

    private static boolean says(Throwable error, String text) {
        return ("" + error.getMessage()).contains(text);
    }

    static List<Refusal> all(boolean alone) {
        List<Refusal> all = new java.util.ArrayList<>(ALWAYS);
        all.add(UNKNOWN);
        if (alone) {
            all.add(MISSING);
        }
        return all;
    }

    /** Returns whether a method has its own code in djl-plan, even beside another engine. */
    static boolean isOwn(String method) {
        return ALONE.contains(method);
    }

    /** Returns whether a method never has PyTorch's answer. */
    static boolean isNeverAnswered(String method, boolean alone) {
        return NOT_IN_ADAPTER.contains(method)
                || NOWHERE.contains(method)
                || (alone && !ALONE.contains(method));
    }

    private static boolean isFarSlice(Call call) {
        return call.name().equals("setScalar") && (call.has("-9:2") || call.has(":9"));
    }

    /** Returns whether PyTorch's engine never answers this overload of a method. */
    static boolean isNowhere(String method) {
        return method.contains("toStringArray(")
                || method.contains("tile(ai.djl.ndarray.types.Shape")
                || method.contains("tile(int,long")
                || method.contains("oneHot(int,float");
    }

    /** Returns whether there may be an answer where PyTorch's engine fails. */
    static boolean isMore(Call call, Throwable error) {
        boolean java =
                error instanceof IndexOutOfBoundsException || says(error, "Invalid dimension");
        return java
                || says(error, "Passing an empty index list")
                || says(error, "Only 1 axis is support")
                || isFarSlice(call);
    }

    /** Returns whether PyTorch's answer is not the expected one. */
    static boolean isOtherwise(Call call) {
        Shape shape = call.sample().shape();
        return switch (call.name()) {
            // After it is set to a Java buffer or array, PyTorch's array is no longer a view.
            case "set" -> call.method().getParameterCount() == 1;
            // PyTorch's median of a broadcast array is wrong: it swaps elements that share memory.
            case "median" -> call.sample().kind().equals("broadcast");
            // PyTorch's engine splits an empty array into one part, however many are requested.
            case "split" -> shape.size() == 0;
            default -> false;
        };
    }

    /** Returns whether numbers are equal, or as close as expected without another engine. */
    static boolean equal(Call call, Number one, Number other) {
        double a = one.doubleValue();
        double b = other.doubleValue();
        boolean rounded =
                call.alone()
                        && Set.of("softmax", "exp", "sqrt", "sum", "max", "clip")
                                .contains(call.name());
        return one.equals(other) || (rounded && (a == b || Math.abs(a - b) <= 3e-7 * Math.abs(b)));
    }

    /** Returns whether a number is the type's nearest one to a number out of its range. */
    static boolean isNearest(DataType type, Number found, Number source) {
        long[] range =
                switch (type) {
                    case UINT8 -> new long[] {0, 255};
                    case INT8 -> new long[] {Byte.MIN_VALUE, Byte.MAX_VALUE};
                    case INT32 -> new long[] {Integer.MIN_VALUE, Integer.MAX_VALUE};
                    case INT64 -> new long[] {Long.MIN_VALUE, Long.MAX_VALUE};
                    default -> new long[] {0, 0};
                };
        double value = source.doubleValue();
        if (Double.isNaN(value)) {
            return range[1] > 0 && found.longValue() == 0;
        }
        return (value < range[0] && found.longValue() == range[0])
                || (value > range[1] && range[1] > 0 && found.longValue() == range[1]);
    }
}
