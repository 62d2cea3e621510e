package org.djlplan.integration.current;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Generates arguments for each method of an array. */
final class ArrayArguments {

    /** Makes an argument with a manager; arrays of different managers have the same elements. */
    interface Argument {

        Object make(NDManager manager, boolean ours);
    }

    /** An argument and its description. */
    record Named(String name, Argument argument) {

        @Override
        public String toString() {
            return name;
        }
    }

    private static final List<String> INDICES =
            List.of(
                    ":",
                    "0",
                    "-1",
                    "9",
                    "1:",
                    ":9",
                    "-9:2",
                    "9:",
                    "::2",
                    "1:1",
                    "2:1",
                    ":, 0",
                    "0, 1",
                    "..., 0",
                    "0, ...",
                    "...",
                    ":, 1:3",
                    "1:2, ..., :1",
                    "null, 0",
                    "::9");

    private static final List<Number> NUMBERS =
            List.of(0, 1, 2.5f, -3L, (byte) 7, 1e10, Float.NaN, Long.MAX_VALUE - 1);

    private final ArraySamples.Sample sample;

    ArrayArguments(ArraySamples.Sample sample) {
        this.sample = sample;
    }

    private static Named one(Object value) {
        String name =
                value instanceof int[] ints
                        ? Arrays.toString(ints)
                        : value instanceof long[] longs ? Arrays.toString(longs) : "" + value;
        return new Named(name, (manager, ours) -> value);
    }

    private static List<Named> plain(Object... values) {
        return Arrays.stream(values).map(ArrayArguments::one).toList();
    }

    private Named array(DataType type, Shape shape, boolean tame) {
        return new Named(
                type + "" + shape,
                (manager, ours) ->
                        ArraySamples.create(
                                manager, ours ? type : ArraySamples.shared(type), shape, tame));
    }

    private static Named places(DataType type, Shape shape) {
        return new Named(
                "places " + type + shape,
                (manager, ours) -> ArraySamples.places(manager, type, shape));
    }

    private boolean odd() {
        return !ArraySamples.SHARED.contains(sample.type());
    }

    private Shape last() {
        Shape shape = sample.shape();
        return shape.dimension() == 0 ? shape : shape.slice(shape.dimension() - 1);
    }

    private List<Named> operands() {
        List<Named> operands = new ArrayList<>();
        operands.add(array(sample.type(), sample.shape(), true));
        if (!odd()) {
            operands.add(array(sample.type(), sample.shape(), false));
            operands.add(array(DataType.FLOAT32, sample.shape(), true));
            operands.add(array(DataType.INT64, last(), false));
            operands.add(array(DataType.INT8, sample.shape(), true));
            operands.add(array(DataType.FLOAT64, new Shape(), true));
            operands.add(array(DataType.BOOLEAN, new Shape(1), true));
            operands.add(array(DataType.INT32, new Shape(7), true));
        }
        return operands;
    }

    private List<Named> masks() {
        return List.of(
                array(DataType.BOOLEAN, sample.shape(), true),
                array(DataType.BOOLEAN, last(), true),
                places(DataType.INT64, new Shape(3)),
                places(DataType.INT32, new Shape(2)));
    }

    private List<Named> indices(boolean few) {
        List<Named> indices = new ArrayList<>();
        INDICES.subList(0, few ? 14 : INDICES.size())
                .forEach(
                        text -> indices.add(new Named(text, (manager, ours) -> new NDIndex(text))));
        indices.add(new Named("nothing", (manager, ours) -> new NDIndex()));
        for (String text : few ? List.of("{}") : List.of("{}", ":, {}", "..., {}")) {
            for (Named mask : masks()) {
                indices.add(
                        new Named(
                                text + " of " + mask,
                                (manager, ours) ->
                                        new NDIndex(text, mask.argument.make(manager, ours))));
            }
        }
        indices.add(
                new Named(
                        "pick",
                        (manager, ours) ->
                                new NDIndex()
                                        .addAllDim()
                                        .addPickDim(
                                                ArraySamples.places(
                                                        manager,
                                                        DataType.INT64,
                                                        new Shape(
                                                                sample.shape().dimension() > 1
                                                                        ? sample.shape().get(0)
                                                                        : 1,
                                                                1)))));
        return indices;
    }

    private List<Named> buffers() {
        int count = (int) sample.shape().size();
        float[] floats = new float[count];
        Arrays.fill(floats, 3.5f);
        byte[] bytes = new byte[count * Math.max(1, sample.type().getNumOfBytes())];
        Arrays.fill(bytes, (byte) 1);
        return List.of(
                new Named("floats", (manager, ours) -> FloatBuffer.wrap(floats)),
                new Named("longs", (manager, ours) -> LongBuffer.wrap(new long[count])),
                new Named("bytes", (manager, ours) -> ByteBuffer.wrap(bytes)));
    }

    /** Returns lists of arguments for a method. */
    List<List<Named>> of(Method method) {
        String name = method.getName();
        Class<?>[] types = method.getParameterTypes();
        if (name.equals("get") && types.length == 2 && types[0] == String.class) {
            return Stream.concat(
                            INDICES.stream().map(text -> List.of(one(text), one(new Object[0]))),
                            masks().stream()
                                    .map(
                                            mask ->
                                                    List.of(
                                                            one("{}"),
                                                            new Named(
                                                                    mask.name,
                                                                    (manager, ours) ->
                                                                            new Object[] {
                                                                                mask.argument.make(
                                                                                        manager,
                                                                                        ours)
                                                                            }))))
                    .toList();
        }
        List<List<Named>> lists = new ArrayList<>(List.of(List.of()));
        for (int i = 0; i < types.length; i++) {
            List<Named> candidates = candidates(method, i);
            if (odd() && types[i] == NDArray.class) {
                candidates = candidates.subList(0, 1);
            }
            List<Named> chosen = candidates;
            lists =
                    lists.stream()
                            .flatMap(
                                    list ->
                                            chosen.stream()
                                                    .map(
                                                            each ->
                                                                    Stream.concat(
                                                                                    list.stream(),
                                                                                    Stream.of(each))
                                                                            .toList()))
                            .collect(Collectors.toList());
        }
        return lists;
    }

    private List<Named> candidates(Method method, int at) {
        String name = method.getName();
        Class<?> type = method.getParameterTypes()[at];
        int count = (int) sample.shape().size();
        boolean settable = name.equals("set") || name.equals("setScalar");
        if (type == Number.class) {
            // Conversions of NaN and numbers out of range are undefined in C++: see OwnArraysTest.
            return settable
                    ? plain(2.5f, Integer.MAX_VALUE + 2L)
                    : name.equals("clip") ? plain(-1, 1.5f, 2L, 0.1) : plain(NUMBERS.toArray());
        }
        if (type == NDArray.class) {
            return switch (name) {
                case "gather", "scatter" ->
                        at == 0
                                ? List.of(places(DataType.INT64, sample.shape()))
                                : operands().subList(0, 1);
                case "gatherNd" ->
                        List.of(
                                places(DataType.INT64, new Shape(1, 2)),
                                places(DataType.INT64, new Shape(2, 2)));
                case "take" ->
                        List.of(
                                places(DataType.INT64, new Shape(3)),
                                places(DataType.INT32, new Shape(2)));
                case "put" ->
                        at == 0
                                ? List.of(places(DataType.INT64, new Shape(2)))
                                : List.of(array(sample.type(), new Shape(2), true));
                case "get", "booleanMask" -> masks();
                case "set" ->
                        at == 0
                                ? masks()
                                : List.of(
                                        array(sample.type(), last(), true),
                                        array(DataType.FLOAT32, new Shape(1, 1, 1), true));
                case "matMul", "dot", "batchMatMul", "batchDot" -> {
                    List<Named> operands = new ArrayList<>(operands().subList(0, odd() ? 1 : 2));
                    operands.add(array(sample.type(), new Shape(3, 3), true));
                    operands.add(array(sample.type(), new Shape(2, 2, 3), true));
                    yield operands;
                }
                case "intern" -> operands().subList(0, 1);
                default -> operands();
            };
        }
        boolean many = method.getParameterCount() > 2;
        if (type == NDIndex.class) {
            return indices(settable);
        }
        if (type == Function.class) {
            Function<NDArray, NDArray> twice = part -> part.add(part);
            return plain(twice);
        }
        if (type == NDManager.class) {
            return List.of(new Named("manager", (manager, ours) -> manager));
        }
        if (type == int.class) {
            return many ? plain(0, 1) : plain(0, 1, -1, 3);
        }
        if (type == long.class) {
            return plain(0L, 1L, 2L);
        }
        if (type == boolean.class) {
            return plain(true, false);
        }
        if (type == double.class) {
            return plain(2.0, 0.5);
        }
        if (type == float.class) {
            return plain(0.5f);
        }
        if (type == DataType.class) {
            List<DataType> types =
                    new ArrayList<>(
                            name.equals("toType")
                                    ? ArraySamples.SHARED
                                    : List.of(DataType.FLOAT32, DataType.INT64, DataType.BOOLEAN));
            types.add(DataType.INT16);
            return plain(types.toArray());
        }
        if (type == Shape.class) {
            return plain(
                    new Shape(2).addAll(sample.shape()),
                    new Shape(6),
                    new Shape(3, 2),
                    new Shape(-1),
                    new Shape(2, 3),
                    new Shape(1, 2, -1),
                    new Shape(0),
                    new Shape());
        }
        if (type == int[].class) {
            return many
                    ? plain(new int[] {0}, new int[] {1, 0})
                    : plain(
                            new int[0],
                            new int[] {0},
                            new int[] {-1},
                            new int[] {1, 0},
                            new int[] {0, 1},
                            new int[] {2, 0, 1},
                            new int[] {0, 0});
        }
        if (type == long[].class) {
            return settable
                    ? plain(new long[count])
                    : name.equals("broadcast")
                            ? plain(new Shape(2).addAll(sample.shape()).getShape(), new long[] {9})
                            : plain(
                                    new long[0],
                                    new long[] {0},
                                    new long[] {1},
                                    new long[] {-1},
                                    new long[] {1, 2},
                                    new long[] {3, -1},
                                    new long[] {9});
        }
        if (type == float[].class) {
            return plain(new float[count]);
        }
        if (type == double[].class) {
            return plain(new double[count]);
        }
        if (type == byte[].class) {
            return plain(new byte[count]);
        }
        if (type == Buffer.class) {
            return buffers();
        }
        if (type == Device.class) {
            return plain(Device.cpu());
        }
        if (type == SparseFormat.class) {
            return plain(SparseFormat.COO, SparseFormat.DENSE);
        }
        if (type == Charset.class) {
            return plain(StandardCharsets.UTF_8);
        }
        if (type == Integer.class) {
            return List.of(one(null), one(0));
        }
        if (type == Object.class) {
            return operands();
        }
        throw new IllegalStateException("no argument for " + method + " at " + at);
    }
}
