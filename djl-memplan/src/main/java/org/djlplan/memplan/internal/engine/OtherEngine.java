package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.index.dim.NDIndexBooleans;
import ai.djl.ndarray.index.dim.NDIndexElement;
import ai.djl.ndarray.index.dim.NDIndexPick;
import ai.djl.ndarray.index.dim.NDIndexTake;
import ai.djl.ndarray.types.DataType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Runs a method of an array in another engine, for operations that arrays over buffers do not
 * support. The arguments are copied into the other engine's memory for the call, so that a result
 * that is a view of an argument stays valid.
 */
final class OtherEngine implements AutoCloseable {

    private final BufferArray array;
    private final NDManager manager;
    private final NDList copies = new NDList();

    private OtherEngine(BufferArray array, NDManager manager) {
        this.array = array;
        this.manager = manager;
    }

    /**
     * @param method the operation, for messages
     * @throws UnsupportedOperationException if there is no other engine
     */
    static OtherEngine of(BufferArray array, String method) {
        return new OtherEngine(array, array.elsewhere().orElseThrow(() -> missing(method)));
    }

    /** Returns the exception for operations that only other engines support. */
    static UnsupportedOperationException missing(String what) {
        return new UnsupportedOperationException(
                what
                        + " needs an engine that computes: add ai.djl.pytorch:pytorch-engine to the"
                        + " class path");
    }

    /**
     * Checks that other engines support a type. PyTorch's engine crashes the JVM if it gets an
     * unknown type.
     *
     * @throws UnsupportedOperationException if they do not
     */
    static DataType require(DataType type) {
        return switch (type) {
            case FLOAT32, FLOAT64, FLOAT16, UINT8, INT8, INT32, INT64, BOOLEAN -> type;
            default ->
                    throw new UnsupportedOperationException(
                            "nothing is computed of arrays of type "
                                    + type
                                    + ": convert them with toType first");
        };
    }

    /** Returns an array whose methods run in the other engine. */
    static NDArray later(BufferArray array) {
        return (NDArray)
                Proxy.newProxyInstance(
                        OtherEngine.class.getClassLoader(),
                        new Class<?>[] {NDArray.class},
                        new Later(array));
    }

    /** Returns a copy of the array. */
    NDArray copy() {
        return copy(array);
    }

    /** Returns a copy of an array, or the array itself if it belongs to the other engine. */
    NDArray copy(NDArray given) {
        NDArray own =
                Proxy.isProxyClass(given.getClass())
                                && Proxy.getInvocationHandler(given) instanceof Later later
                        ? later.array
                        : given;
        if (own instanceof BufferArray buffer) {
            try (NDArray shared =
                    manager.create(
                            buffer.toByteBuffer(),
                            buffer.getShape(),
                            require(buffer.getDataType()))) {
                NDScope.unregister(shared);
                own = shared.duplicate();
            }
        } else {
            own = manager.from(given);
        }
        if (own != given) {
            NDScope.unregister(own);
            copies.add(own);
        }
        return own;
    }

    /**
     * Calls a method on the copy.
     *
     * @param target the copy, or its internal functions
     * @return the method's result; the original array if the result is the copy
     */
    Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        Object[] converted =
                arguments == null
                        ? null
                        : Arrays.stream(arguments).map(this::converted).toArray(Object[]::new);
        if (method.getName().contains("mod")) {
            boolean reversed = method.getName().startsWith("r");
            NDArray other =
                    converted[0] instanceof Number n
                            ? BufferManager.system().create(n)
                            : BufferManager.system().from((NDArray) converted[0]);
            requireRemainder(reversed ? other : array, reversed ? array : other);
        }
        try {
            Object result = method.invoke(target, converted);
            boolean inPlace = method.getName().endsWith("i");
            if (inPlace) {
                array.assign(copies.head());
            }
            return result == copies.head() ? array : result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The smallest integer modulo −1 is a processor trap, which crashes the JVM. */
    private static void requireRemainder(NDArray dividend, NDArray divisor) {
        DataType type =
                ElementTypes.promoted(
                        dividend.getDataType(),
                        dividend.getShape(),
                        divisor.getDataType(),
                        divisor.getShape());
        long least = type == DataType.INT32 ? Integer.MIN_VALUE : Long.MIN_VALUE;
        if ((type == DataType.INT32 || type == DataType.INT64)
                && has(dividend, type, least)
                && has(divisor, type, -1)) {
            throw new UnsupportedOperationException(least + " modulo -1 ends the JVM in PyTorch");
        }
    }

    private static boolean has(NDArray array, DataType type, long number) {
        NDArray converted = array.toType(type, false);
        Elements elements = ((BufferArray) converted).elements();
        ArithmeticArray.closeCopy(converted, array);
        return IntStream.range(0, elements.count()).anyMatch(i -> elements.getLong(i) == number);
    }

    private Object converted(Object argument) {
        if (argument instanceof NDArray given) {
            return copy(given);
        }
        if (argument instanceof NDList given) {
            NDList list = new NDList();
            given.forEach(each -> list.add(copy(each)));
            return list;
        }
        return argument instanceof DataType type ? require(type) : argument;
    }

    /** Returns an index with arrays of the other engine. */
    NDIndex converted(NDIndex index) {
        NDIndex copy = new NDIndex().addAllDim(index.getRank());
        copy.getIndices().clear();
        for (NDIndexElement element : index.getIndices()) {
            if (copy.getIndices().size() == index.getEllipsisIndex()) {
                copy.addEllipseDim();
            }
            copy.getIndices().add(converted(element));
        }
        return copy.getIndices().size() == index.getEllipsisIndex() ? copy.addEllipseDim() : copy;
    }

    private NDIndexElement converted(NDIndexElement element) {
        if (element instanceof NDIndexBooleans mask) {
            return new NDIndexBooleans(copy(mask.getIndex()));
        }
        if (element instanceof NDIndexTake take) {
            return new NDIndexTake(copy(take.getIndex()));
        }
        return element instanceof NDIndexPick pick
                ? new NDIndexPick(copy(pick.getIndex()))
                : element;
    }

    /** Closes the copies. */
    @Override
    public void close() {
        copies.close();
    }

    private record Later(BufferArray array) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (method.getReturnType() == void.class) {
                return null; // DJL refreshes or closes a placeholder that it takes for a copy.
            }
            try (OtherEngine other = of(array, "NDArray." + method.getName())) {
                return other.invoke(other.copy(), method, arguments);
            }
        }
    }
}
