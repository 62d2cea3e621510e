package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrayAdapter;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every operation of arrays gives on ours, with PyTorch beside, what it gives on PyTorch's, but for
 * those that DJL's adapter to another engine's arrays, which its own engine has as well, refuses.
 */
@Tag("djl-current")
class EveryOperationTest {

    /**
     * What says which array it is, changes what PyTorch has beside the numbers, leaves the content
     * open, or is of strings.
     */
    private static final Set<String> NOT_COMPARED =
            ImmutableSet.of(
                    "getManager",
                    "getUid",
                    "getName",
                    "setName",
                    "attach",
                    "tempAttach",
                    "detach",
                    "returnResource",
                    "close",
                    "intern",
                    "toString",
                    "toDebugString",
                    "getNDArrayInternal",
                    "like",
                    "toStringArray",
                    "setRequiresGradient",
                    "getGradient",
                    "hasGradient",
                    "stopGradient",
                    "scaleGradient");

    private static final String FAILS = "fails ";
    private static final String REFUSED = "refused";
    private static final int LEAST_OPERATIONS = 150;

    /** A value for each kind of parameter. */
    private static final Map<Class<?>, Object> VALUES =
            ImmutableMap.<Class<?>, Object>builder()
                    .put(int.class, 1)
                    .put(int[].class, new int[] {1})
                    .put(long.class, 2L)
                    .put(long[].class, new long[] {1})
                    .put(float.class, 2f)
                    .put(double.class, 2d)
                    .put(boolean.class, true)
                    .put(Number.class, 2)
                    .put(String.class, "1")
                    .put(Shape.class, new Shape(4, 3))
                    .put(DataType.class, DataType.FLOAT64)
                    .put(SparseFormat.class, SparseFormat.DENSE)
                    .put(NDIndex.class, new NDIndex("1"))
                    .put(Object[].class, new Object[0])
                    .build();

    private static NDArray array(NDManager manager, DataType type, int first) {
        double[] values = new double[12];
        for (int i = 0; i < values.length; i++) {
            values[i] = (first + 5 * i) % 7 + 1;
        }
        return manager.create(values, new Shape(3, 4)).toType(type, false);
    }

    private static List<Method> operations() {
        return Arrays.stream(NDArray.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !NOT_COMPARED.contains(method.getName()))
                .sorted(Comparator.comparing(Method::toString))
                .toList();
    }

    /** Returns what an operation answers, or which it does not, and what it leaves in the array. */
    private static String answer(Engine engine, Method operation, DataType type) throws Exception {
        try (NDManager manager = engine.newBaseManager()) {
            NDArray array = array(manager, type, 0);
            Class<?>[] parameters = operation.getParameterTypes();
            Object[] arguments = new Object[parameters.length];
            for (int i = 0; i < parameters.length; i++) {
                if (parameters[i] == NDArray.class) {
                    arguments[i] = array(manager, type, 3);
                } else if (parameters[i] == NDList.class) {
                    arguments[i] = new NDList(array(manager, type, 3));
                } else {
                    arguments[i] = VALUES.get(parameters[i]);
                }
            }
            Object answer;
            try {
                answer = operation.invoke(array, arguments);
            } catch (InvocationTargetException e) {
                StackTraceElement origin = e.getCause().getStackTrace()[0];
                boolean refused = origin.getClassName().equals(NDArrayAdapter.class.getName());
                return refused ? REFUSED : FAILS + e.getCause();
            }
            return text(answer) + " left " + text(array);
        }
    }

    private static String text(Object value) {
        if (value instanceof NDArray array) {
            if (array.getDataType() == DataType.STRING) {
                return Arrays.toString(array.toStringArray());
            }
            return array.getShape() + " " + array.getDataType() + " " + numbers(array);
        }
        if (value instanceof NDList list) {
            return list.stream().map(EveryOperationTest::text).toList().toString();
        }
        if (value instanceof ByteBuffer bytes) {
            byte[] content = new byte[bytes.remaining()];
            bytes.get(content);
            return bytes.order() + " " + Arrays.toString(content);
        }
        return value != null && value.getClass().isArray()
                ? Arrays.deepToString(new Object[] {value})
                : String.valueOf(value);
    }

    private static String numbers(NDArray array) {
        return Arrays.toString(array.toType(DataType.FLOAT64, true).toDoubleArray());
    }

    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {"FLOAT32", "INT64"})
    void operation_besidePyTorch_givesWhatPyTorchGives(DataType type) throws Exception {
        Engine own = Engine.getEngine("TFLite");
        Engine torch = Engine.getEngine("PyTorch");
        List<String> different = new ArrayList<>();
        int same = 0;
        for (Method operation : operations()) {
            String expected = answer(torch, operation, type);
            String actual = answer(own, operation, type);
            if (expected.startsWith(FAILS) || actual.equals(REFUSED)) {
                continue;
            }
            if (!actual.equals(expected)) {
                different.add(operation + ": " + actual + ", PyTorch: " + expected);
            }
            same++;
        }
        assertEquals("", String.join("\n", different));
        assertTrue(same > LEAST_OPERATIONS, same + " operations");
    }
}
