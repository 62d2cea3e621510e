package org.djlplan.integration.current;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.djlplan.integration.current.ArrayArguments.Named;
import org.djlplan.integration.current.ArraySamples.Made;
import org.djlplan.integration.current.ArraySamples.Sample;

/**
 * Calls each method of {@link NDArray} on djl-plan's arrays and on equal PyTorch arrays. It
 * compares the result or error, the array, its base, and the arguments. It runs in its own process,
 * because an invalid call of PyTorch ends the process.
 */
final class ArraysReferenceProgram {

    /** Methods that do not concern elements. */
    private static final Set<String> OF_LIFE =
            Set.of(
                    "attach",
                    "detach",
                    "tempAttach",
                    "returnResource",
                    "close",
                    "isReleased",
                    "getManager",
                    "getUid",
                    "getName",
                    "setName",
                    "getDevice",
                    "getResourceNDArrays",
                    "getNDArrayInternal",
                    "toDebugString",
                    "getAsBytes",
                    "getAsString",
                    "getAsObject");

    /** Methods that only move elements, whatever their type. */
    private static final Set<String> MOVES =
            Set.of(
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
                    "toByteArray",
                    "toByteBuffer",
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
                    "shapeEquals");

    /** One call of a method. */
    record Call(Method method, Sample sample, List<Named> arguments, boolean alone, int number) {

        /**
         * Returns keys that similar calls share, with other types or other lengths of dimensions.
         */
        private List<String> keys() {
            Shape shape = sample.shape();
            String key = method + "/" + number;
            return List.of(
                    method + "/" + sample.type(),
                    key + "/" + shape.dimension() + "/" + (shape.size() == 0),
                    key + "/" + sample.type());
        }

        String name() {
            return method.getName();
        }

        boolean has(String argument) {
            return arguments.stream().anyMatch(each -> each.name().equals(argument));
        }

        @Override
        public String toString() {
            return sample + "." + method.getName() + arguments;
        }
    }

    /** A snapshot of an array. */
    private record Image(DataType type, Shape shape, ByteBuffer values) {

        static Image of(NDArray array) {
            ByteBuffer values = array.toByteBuffer();
            ByteBuffer copy =
                    ByteBuffer.allocate(values.remaining()).order(ByteOrder.nativeOrder());
            copy.put(values.duplicate()).rewind();
            return new Image(array.getDataType(), array.getShape(), copy);
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(type + "" + shape);
            for (int i = 0; i < Math.min(8, count()); i++) {
                text.append(' ').append(number(i));
            }
            return text.toString();
        }

        int count() {
            int width = type.getNumOfBytes();
            return values.remaining() / (width == 0 ? Short.BYTES : width);
        }

        Number number(int i) {
            return switch (type) {
                case FLOAT32, COMPLEX64 -> values.getFloat(i * 4);
                case FLOAT64 -> values.getDouble(i * 8);
                case FLOAT16 -> ai.djl.util.Float16Utils.halfToFloat(values.getShort(i * 2));
                case UINT8 -> values.get(i) & 0xff;
                case INT8, BOOLEAN -> values.get(i);
                case INT32, UINT32 -> values.getInt(i * 4);
                case INT64, UINT64 -> values.getLong(i * 8);
                default -> values.getShort(i * 2);
            };
        }
    }

    /** The effects of one call. */
    private record Outcome(
            Object result, Throwable error, List<?> before, Object state, String arguments) {}

    /** One in this number of calls is made. */
    private final int part;

    private final boolean alone = Boolean.getBoolean("ai.djl.tflite.disable_alternative");
    private final Map<String, List<String>> mismatches = new TreeMap<>();
    private final Set<ArrayRefusals.Refusal> used = new HashSet<>();
    private final Map<String, Integer> answered = new LinkedHashMap<>();
    private final Map<String, Integer> outcomes = new HashMap<>();
    private int cases;
    private int same;
    private int refusedByBoth;
    private int refused;

    private ArraysReferenceProgram(int part) {
        this.part = part;
    }

    /** Prints differences and the number of cases. Usage: {@code PART} */
    public static void main(String[] arguments) {
        ArraysReferenceProgram program = new ArraysReferenceProgram(Integer.parseInt(arguments[0]));
        try {
            program.run();
        } finally {
            program.print();
        }
    }

    private void print() {
        mismatches.forEach(
                (what, calls) -> {
                    System.out.println(calls.size() + " × " + what);
                    calls.stream().limit(5).forEach(call -> System.out.println("      " + call));
                });
        System.out.printf(
                "%d cases: %d same, %d refused by both, %d refused, %d wrong%n",
                cases,
                same,
                refusedByBoth,
                refused,
                mismatches.values().stream().mapToInt(List::size).sum());
    }

    private static List<Method> methods() {
        return Arrays.stream(NDArray.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !OF_LIFE.contains(method.getName()))
                .sorted(Comparator.comparing(Method::toString))
                .toList();
    }

    private void run() {
        List<Sample> samples =
                Stream.concat(
                                ArraySamples.SHARED.stream(),
                                ArraySamples.CARRIERS.keySet().stream().sorted())
                        .flatMap(type -> ArraySamples.of(type).stream())
                        .toList();
        try (NDManager ours = NDManager.newBaseManager(Device.cpu(), "TFLite");
                NDManager theirs = NDManager.newBaseManager(Device.cpu(), "PyTorch")) {
            for (Method method : methods()) {
                answered.put(method.toString(), 0);
                System.err.println(method); // the last one, should the process end
                boolean never = ArrayRefusals.isNeverAnswered(method.getName(), alone);
                for (Sample sample : never ? samples.subList(0, 2) : samples) {
                    if (isPlenty(method, sample)) {
                        continue;
                    }
                    int number = 0;
                    for (List<Named> arguments : new ArrayArguments(sample).of(method)) {
                        Call call = new Call(method, sample, arguments, alone, number++);
                        if (isChosen(call) && !isKnownToFail(call)) {
                            compare(call, ours, theirs);
                        }
                    }
                }
            }
        }
        if (part == 1) {
            requireCoverage();
        }
    }

    /** Returns whether a call is made, which is the same in each run. */
    private boolean isChosen(Call call) {
        return Math.floorMod(call.toString().hashCode(), part) == 0;
    }

    private void requireCoverage() {
        answered.forEach(
                (method, count) -> {
                    String name = method.replaceAll(".*\\.(\\w+)\\(.*", "$1");
                    boolean arrays = alone && method.contains("et(ai.djl.ndarray.NDArray");
                    if (count == 0
                            && !arrays
                            && !ArrayRefusals.ODD_ANSWERS.contains(name)
                            && !ArrayRefusals.isNeverAnswered(name, alone)
                            && !ArrayRefusals.isNowhere(method)) {
                        wrong("never answered as PyTorch does", method);
                    }
                });
        ArrayRefusals.all(alone).stream()
                .filter(each -> !used.contains(each))
                .forEach(each -> wrong("a refusal that never happens", each.why()));
    }

    /** Kinds of arrays that differ for methods which copy the array to PyTorch. */
    private static final Set<String> FEW =
            Set.of("(3, 3)", "(2, 3)", "(2, 3, 2)", "(5)", "()", "(0)", "transposed");

    /**
     * Returns whether similar samples suffice: if a type rejects a method, it does so for all
     * shapes.
     */
    private static boolean isPlenty(Method method, Sample sample) {
        if (ArraySamples.SHARED.contains(sample.type())) {
            return !ArrayRefusals.isOwn(method.getName()) && !FEW.contains(sample.kind());
        }
        return !MOVES.contains(method.getName())
                && !sample.kind().equals("columns")
                && !sample.kind().equals("(2, 3)");
    }

    /** An error of libtorch takes 20 ms, so calls that resemble failed ones are not made. */
    private boolean isKnownToFail(Call call) {
        List<String> keys = call.keys();
        int patience = call.sample.type() == DataType.FLOAT32 ? 6 : 1;
        return outcomes.getOrDefault(keys.get(0), 0) <= -patience
                || keys.subList(1, 3).stream().anyMatch(key -> outcomes.getOrDefault(key, 0) <= -1);
    }

    private void compare(Call call, NDManager ours, NDManager theirs) {
        cases++;
        // PyTorch's engine ends the process if it gets a type that it does not know.
        boolean odd = !ArraySamples.SHARED.contains(call.sample.type()) || call.has("int16");
        boolean delegated = !alone && !odd && !ArrayRefusals.isOwn(call.name());
        if (delegated && !ArrayRefusals.isNeverAnswered(call.name(), alone)) {
            Outcome other = outcome(call, theirs, false);
            if (other.error instanceof EngineException) {
                remember(call, other); // ours would be the same call of libtorch
                refusedByBoth++;
                return;
            }
        }
        Outcome own = outcome(call, ours, true);
        if (own.error != null && !own.before.equals(own.state)) {
            wrong("changed although refused", call + " " + own.before + " " + own.state);
            return;
        }
        if (ArrayRefusals.isNeverAnswered(call.name(), alone)) {
            if (own.error == null) {
                wrong("answers", call + " " + own.result);
            } else {
                refused(call, own);
            }
            return;
        }
        if (odd && (call.has("int16") || !MOVES.contains(call.name()))) {
            if (own.error == null && !ArrayRefusals.ODD_ANSWERS.contains(call.name())) {
                wrong("answers of type " + call.sample.type(), call + " " + own.result);
            } else if (own.error != null) {
                refused(call, own);
            } else {
                same++;
            }
            return;
        }
        Outcome other = outcome(call, theirs, false);
        remember(call, other);
        if (own.error != null && other.error != null) {
            refusedByBoth++;
            expectKind(call, own.error, other.error);
        } else if (own.error != null) {
            refused(call, own);
        } else if (other.error != null) {
            if (ArrayRefusals.isMore(call, other.error)) {
                same++;
            } else {
                wrong(
                        call.method.getName() + " answers, PyTorch does not",
                        call + " " + own.result + " / " + other.error);
            }
        } else {
            answered.merge(call.method.toString(), 1, Integer::sum);
            String difference = difference(call, own, other);
            if (difference == null) {
                same++;
            } else {
                wrong(call.method.getName() + " differs", call + " " + difference);
            }
        }
    }

    private void remember(Call call, Outcome other) {
        if (other.error == null || other.error instanceof EngineException) {
            int more = other.error == null ? 1000 : -1;
            call.keys().forEach(key -> outcomes.merge(key, more, Integer::sum));
        }
    }

    private void refused(Call call, Outcome own) {
        expectKind(call, own.error, own.error);
        for (ArrayRefusals.Refusal refusal : ArrayRefusals.all(alone)) {
            if (refusal.covers().test(call, own.error)) {
                used.add(refusal);
                refused++;
                return;
            }
        }
        wrong(
                call.method.getName() + " is refused: " + own.error.getClass().getSimpleName(),
                call + " " + own.error.getMessage());
    }

    private void expectKind(Call call, Throwable error, Throwable other) {
        boolean expected =
                error instanceof UnsupportedOperationException
                        || error instanceof IllegalArgumentException
                        || error instanceof IllegalStateException
                        || error instanceof EngineException
                        || error instanceof IndexOutOfBoundsException
                        || (error != other && error.getClass() == other.getClass());
        if (!expected) {
            wrong("an error of another kind: " + error, call + " / " + other);
        }
    }

    private void wrong(String what, String call) {
        mismatches.computeIfAbsent(what, key -> new ArrayList<>()).add(call);
    }

    private static Outcome outcome(Call call, NDManager parent, boolean ours) {
        try (NDManager manager = parent.newSubManager()) {
            Made made = call.sample.make(manager, ours);
            Object[] arguments =
                    call.arguments.stream()
                            .map(each -> each.argument().make(manager, ours))
                            .toArray();
            List<?> before = List.of(Image.of(made.base()), Image.of(made.array()));
            Object result = null;
            Throwable error = null;
            try {
                result = image(call.method.invoke(made.array(), arguments));
            } catch (InvocationTargetException e) {
                error = e.getCause();
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
            StringBuilder after = new StringBuilder();
            for (Object argument : arguments) {
                after.append(
                        argument instanceof NDArray a && !a.isReleased() ? "" + Image.of(a) : "");
            }
            Object state = List.of(Image.of(made.base()), Image.of(made.array()));
            return new Outcome(result, error, before, state, after.toString());
        }
    }

    private static Object image(Object result) {
        if (result instanceof NDArray array) {
            return array.isSparse() ? array.toString() : Image.of(array);
        }
        if (result instanceof NDList list) {
            return list.stream().map(ArraysReferenceProgram::image).toList();
        }
        if (result instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return Arrays.toString(bytes);
        }
        if (result != null && result.getClass().isArray()) {
            List<Object> elements = new ArrayList<>();
            for (int i = 0; i < java.lang.reflect.Array.getLength(result); i++) {
                elements.add(java.lang.reflect.Array.get(result, i));
            }
            return elements;
        }
        return result == null ? "nothing" : result;
    }

    /** Returns what differs, or null. */
    private static String difference(Call call, Outcome own, Outcome other) {
        if (!equal(call, own, own.result, other.result)) {
            return own.result + " / " + other.result;
        }
        if (!equal(call, own, own.state, other.state)) {
            return "afterwards " + own.state + " / " + other.state;
        }
        boolean odd = !ArraySamples.SHARED.contains(call.sample.type());
        return odd || own.arguments.equals(other.arguments)
                ? null
                : call.name().equals("gatherNd")
                        ? null
                        : "arguments afterwards " + own.arguments + " / " + other.arguments;
    }

    private static boolean equal(Call call, Outcome of, Object one, Object other) {
        if (one instanceof List<?> list && other instanceof List<?> others) {
            for (int i = 0; i < list.size() && list.size() == others.size(); i++) {
                if (!equal(call, of, list.get(i), others.get(i))) {
                    return false;
                }
            }
            return list.size() == others.size() || ArrayRefusals.isOtherwise(call);
        }
        if (!(one instanceof Image own) || !(other instanceof Image theirs)) {
            return one.equals(other);
        }
        // PyTorch makes 16-bit numbers from UINT8 and INT8, a type that its engine does not know.
        boolean sixteen = own.type == DataType.INT16 && theirs.type == DataType.UNKNOWN;
        if ((!sixteen && ArraySamples.shared(own.type) != theirs.type)
                || !own.shape.equals(theirs.shape)) {
            return false;
        }
        if (call.name().equals("like")) {
            return true;
        }
        if (own.values.equals(theirs.values) || ArrayRefusals.isOtherwise(call)) {
            return true;
        }
        for (int i = 0; i < own.count() && own.type == theirs.type; i++) {
            Number source = call.name().equals("toType") ? ((Image) of.before.get(1)).number(i) : 0;
            if (!ArrayRefusals.equal(call, own.number(i), theirs.number(i))
                    && !ArrayRefusals.isNearest(own.type, own.number(i), source)) {
                return false;
            }
        }
        return own.type == theirs.type && own.count() == theirs.count();
    }
}
