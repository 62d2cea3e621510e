package org.djlplan.memplan.internal.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * The internal functions of an array: joins, indices and image resizing for arrays over buffers.
 * Other functions are those of another engine's array; without another engine they are the
 * interface's defaults, which use these functions. It is a proxy, because the set of functions
 * differs between versions of DJL.
 */
final class ArrayFunctions implements InvocationHandler {

    private final BufferArray array;
    private final BufferManager manager;

    private ArrayFunctions(BufferArray array, BufferManager manager) {
        this.array = array;
        this.manager = manager;
    }

    /**
     * @param manager of the results
     */
    static NDArrayEx of(BufferArray array, BufferManager manager) {
        return (NDArrayEx)
                Proxy.newProxyInstance(
                        ArrayFunctions.class.getClassLoader(),
                        new Class<?>[] {NDArrayEx.class},
                        new ArrayFunctions(array, manager));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        String name = method.getName();
        int count = method.getParameterCount();
        if (method.getDeclaringClass() == Object.class) {
            return method.invoke(this, arguments);
        }
        if (name.equals("getArray")) {
            return array;
        }
        if (name.equals("getIndexer")) {
            return new BufferIndexer(
                    (NDManager) arguments[0] instanceof BufferManager own ? own : manager);
        }
        if (name.equals("concat") && count == 2) {
            return array.concatenated((NDList) arguments[0], (int) arguments[1]);
        }
        if (name.equals("stack") && count == 2) {
            return stack((NDList) arguments[0], (int) arguments[1]);
        }
        if (!array.alone()) {
            try (OtherEngine other = OtherEngine.of(array, name)) {
                return other.invoke(other.copy().getNDArrayInternal(), method, arguments);
            }
        }
        if (name.equals("resize")) {
            return ImageResize.resize(
                    array, (int) arguments[0], (int) arguments[1], (int) arguments[2]);
        }
        if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
        }
        throw OtherEngine.missing("NDArrayEx." + name);
    }

    private Object stack(NDList others, int axis) {
        NDList expanded = new NDList(others.size());
        for (NDArray part : others) {
            if (!part.getShape().equals(array.getShape())) {
                throw new IllegalArgumentException(
                        array.getShape() + " and " + part.getShape() + " stacked");
            }
            NDArray own = manager.from(part);
            expanded.add(own.expandDims(axis));
            ArithmeticArray.closeCopy(own, part);
        }
        try (NDList parts = expanded;
                BufferArray first = (BufferArray) array.expandDims(axis)) {
            return first.concatenated(parts, axis);
        }
    }
}
