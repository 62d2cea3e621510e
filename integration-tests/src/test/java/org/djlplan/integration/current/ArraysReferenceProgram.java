package org.djlplan.integration.current;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Makes calls on djl-plan's arrays and on equal PyTorch arrays, and compares the result or error,
 * the array, and its base. It runs in its own process, because an invalid call of PyTorch ends the
 * process.
 */
final class ArraysReferenceProgram {

    /** Types that PyTorch's engine does not have, each with one of its types of the same width. */
    private static final Map<DataType, DataType> CARRIERS =
            Map.of(
                    DataType.INT16, DataType.FLOAT16,
                    DataType.BFLOAT16, DataType.FLOAT16,
                    DataType.UINT32, DataType.INT32,
                    DataType.UINT64, DataType.INT64);

    /** Calls whose results may differ from PyTorch's in the last bits. */
    private static final List<String> ROUNDED = List.of("softmax", "exp", "sqrt", "sum", "max");

    /** Calls that PyTorch's engine answers for some empty arrays that should be invalid. */
    private static final Set<String> EMPTY = Set.of("concat", "softmax", "split");

    /** Calls that PyTorch's engine rejects for each array. */
    private static final Set<String> INVALID =
            Set.of(
                    "addi seven",
                    "concat scalar",
                    "muli seven",
                    "split -1",
                    "sub flag",
                    "subi flag",
                    "subi seven");

    /** An array, or a view of one, of each type. */
    private record Sample(
            DataType type, String kind, boolean tame, UnaryOperator<NDArray> view, long... shape) {

        NDArray base(NDManager manager, boolean ours) {
            return ArrayCalls.create(
                    manager, ours ? type : CARRIERS.getOrDefault(type, type), tame, shape);
        }

        boolean isEmpty() {
            return new Shape(shape).size() == 0;
        }

        @Override
        public String toString() {
            return type + " " + kind + (tame ? " tame" : "");
        }
    }

    /** What a call did: its result or its error, and the elements of the array and its base. */
    private record Outcome(Object result, Throwable error, List<?> before, List<?> after) {}

    private record Image(DataType type, Shape shape, List<Number> numbers) {}

    private final boolean alone = Boolean.getBoolean("ai.djl.tflite.disable_alternative");
    private final Map<String, Function<NDArray, Object>> arithmetic = ArrayCalls.arithmetic();
    private final Map<String, Function<NDArray, Object>> moves = ArrayCalls.moves();
    private final Map<String, Integer> answered = new TreeMap<>();
    private final Set<String> failed = new HashSet<>();
    private int wrong;

    private ArraysReferenceProgram() {}

    /** Prints the differences, and the number of equal answers. */
    public static void main(String[] arguments) {
        ArraysReferenceProgram program = new ArraysReferenceProgram();
        try (NDManager ours = NDManager.newBaseManager(Device.cpu(), "TFLite");
                NDManager theirs = NDManager.newBaseManager(Device.cpu(), "PyTorch")) {
            for (DataType type : ArrayCalls.TYPES) {
                program.compareAll(program.arithmetic, type, ours, theirs);
                program.compareAll(program.moves, type, ours, theirs);
            }
            CARRIERS.keySet().stream()
                    .sorted()
                    .forEach(type -> program.compareAll(program.moves, type, ours, theirs));
        }
        program.arithmetic.keySet().forEach(program::requireAnswer);
        program.moves.keySet().forEach(program::requireAnswer);
        int same = program.answered.values().stream().mapToInt(count -> count).sum();
        System.out.printf("%d same, %d wrong%n", same, program.wrong);
    }

    private static List<Sample> samples(DataType type) {
        UnaryOperator<NDArray> whole = array -> array;
        return List.of(
                new Sample(type, "2x3", true, whole, 2, 3),
                new Sample(type, "3x3", true, whole, 3, 3),
                new Sample(type, "3", true, whole, 3),
                new Sample(type, "2x3x2", false, whole, 2, 3, 2),
                new Sample(type, "2x3", false, whole, 2, 3),
                new Sample(type, "12", false, whole, 12),
                new Sample(type, "1", false, whole, 1),
                new Sample(type, "scalar", false, whole),
                new Sample(type, "part", false, array -> array.get("1:4"), 5),
                new Sample(type, "columns", false, array -> array.get(":, 1:3"), 3, 4),
                new Sample(type, "steps", false, array -> array.get("::2"), 5),
                new Sample(type, "turned", false, NDArray::transpose, 2, 3),
                new Sample(type, "picked", false, array -> array.get(1), 3, 2),
                new Sample(type, "wide", false, array -> array.broadcast(2, 3), 1, 3),
                new Sample(type, "0", false, whole, 0),
                new Sample(type, "2x0", false, whole, 2, 0));
    }

    private void compareAll(
            Map<String, Function<NDArray, Object>> calls,
            DataType type,
            NDManager ours,
            NDManager theirs) {
        for (Sample sample : samples(type)) {
            calls.forEach(
                    (name, call) -> {
                        String key = name + type + sample.shape.length + sample.isEmpty();
                        // An error is slow, so calls like failed ones are not made.
                        if (!failed.contains(key) && !isUndefined(name, sample)) {
                            Outcome own = outcome(call, sample, ours, true);
                            Outcome other = outcome(call, sample, theirs, false);
                            if (other.error instanceof EngineException) {
                                failed.add(key);
                            }
                            compare(name, sample, own, other);
                        }
                    });
        }
    }

    /** Returns whether a call converts numbers out of the range, which C++ does not define. */
    private static boolean isUndefined(String name, Sample sample) {
        return name.startsWith("toType") && !sample.tame && sample.type.isFloating();
    }

    private void compare(String name, Sample sample, Outcome own, Outcome other) {
        String call = sample + "." + name + ": " + own + " / " + other;
        if (own.error != null) {
            require(own.before.equals(own.after), "changed although refused", call);
            require(isExpected(own.error), "an error of another kind", call);
            require(other.error != null || isRefusal(name, sample, own.error), "refused", call);
        } else if (other.error != null) {
            require(isMore(other.error), "answers, PyTorch does not", call);
        } else {
            boolean same =
                    equal(name, own.result, other.result) && equal(name, own.after, other.after);
            require(same, "differs", call);
            answered.merge(name, 1, Integer::sum);
        }
    }

    private void require(boolean condition, String what, String call) {
        if (!condition) {
            wrong++;
            System.out.println(what + ": " + call);
        }
    }

    private void requireAnswer(String name) {
        boolean invalid = name.endsWith(" 3") || name.endsWith("9") || INVALID.contains(name);
        require(alone || invalid || answered.containsKey(name), "never answered", name);
    }

    private static boolean isExpected(Throwable error) {
        return error instanceof UnsupportedOperationException
                || error instanceof IllegalArgumentException
                || error instanceof IllegalStateException
                || error instanceof EngineException
                || error instanceof IndexOutOfBoundsException;
    }

    /** Returns whether an array may reject a call that PyTorch answers. */
    private boolean isRefusal(String name, Sample sample, Throwable error) {
        String message = "" + error.getMessage();
        return (alone && message.contains("add ai.djl.pytorch:pytorch-engine"))
                || message.contains("unknown")
                || message.contains("of type int16")
                // Parts are equal, as DJL documents.
                || message.contains("equal parts")
                // Scalars have no axes.
                || (sample.shape.length == 0 && message.contains("axis "))
                // PyTorch joins empty arrays of one dimension with any others, does not look at
                // the axis if there is nothing to split, and has a softmax of no integers.
                || (sample.isEmpty()
                        && EMPTY.contains(name.substring(0, (name + " ").indexOf(' '))));
    }

    /** Returns whether there may be an answer where PyTorch's engine fails. */
    private static boolean isMore(Throwable error) {
        String message = "" + error.getMessage();
        return error instanceof IndexOutOfBoundsException
                || message.contains("Invalid dimension")
                || message.contains("Passing an empty index list")
                || message.contains("Only 1 axis is support");
    }

    private static Outcome outcome(
            Function<NDArray, Object> call, Sample sample, NDManager parent, boolean ours) {
        try (NDManager manager = parent.newSubManager()) {
            NDArray base = sample.base(manager, ours);
            NDArray array = sample.view.apply(base);
            List<?> before = List.of(image(base), image(array));
            Object result = null;
            Throwable error = null;
            try {
                result = image(call.apply(array));
            } catch (RuntimeException e) {
                error = e;
            }
            return new Outcome(result, error, before, List.of(image(base), image(array)));
        }
    }

    private static Object image(Object result) {
        if (result instanceof NDArray array) {
            ByteBuffer values = array.toByteBuffer().order(ByteOrder.nativeOrder());
            // PyTorch's engine calls INT16, the sum of UINT8 and INT8, unknown.
            boolean known = array.getDataType() != DataType.UNKNOWN;
            DataType own = known ? array.getDataType() : DataType.INT16;
            DataType type = CARRIERS.getOrDefault(own, own);
            int width = type.getNumOfBytes();
            List<Number> numbers =
                    IntStream.range(0, values.remaining() / width)
                            .mapToObj(i -> number(type, values, values.position() + i * width))
                            .toList();
            return new Image(type, array.getShape(), numbers);
        }
        if (result instanceof NDList list) {
            return list.stream().map(ArraysReferenceProgram::image).toList();
        }
        if (result.getClass().isArray()) {
            return IntStream.range(0, Array.getLength(result))
                    .mapToObj(i -> Array.get(result, i))
                    .toList();
        }
        return result;
    }

    private static Number number(DataType type, ByteBuffer values, int at) {
        return switch (type) {
            case FLOAT32 -> values.getFloat(at);
            case FLOAT64 -> values.getDouble(at);
            // NaN has several forms.
            case FLOAT16 ->
                    (values.getShort(at) & 0x7fff) > 0x7c00 ? Float.NaN : values.getShort(at);
            case INT32 -> values.getInt(at);
            case INT64 -> values.getLong(at);
            default -> values.get(at);
        };
    }

    private static boolean equal(String name, Object own, Object other) {
        if (own instanceof List<?> list && other instanceof List<?> others) {
            return list.size() == others.size()
                    && IntStream.range(0, list.size())
                            .allMatch(i -> equal(name, list.get(i), others.get(i)));
        }
        if (own instanceof Image one && other instanceof Image two) {
            return one.type == two.type
                    && one.shape.equals(two.shape)
                    && equal(name, one.numbers, two.numbers);
        }
        if (own instanceof Number one && other instanceof Number two) {
            double a = one.doubleValue();
            double b = two.doubleValue();
            boolean close = a == b || Math.abs(a - b) <= 3e-7 * Math.abs(b);
            return one.equals(two) || (close && ROUNDED.stream().anyMatch(name::startsWith));
        }
        return own.equals(other);
    }
}
