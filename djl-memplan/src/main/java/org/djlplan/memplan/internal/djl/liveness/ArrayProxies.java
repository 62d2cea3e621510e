package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.Buffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Streams;

/**
 * Stand-ins for arrays, managers and an array's engine-level methods, which report every call to a
 * {@link Recorder} and delegate it to the real object. There is one stand-in per real object, so
 * that identity comparisons have the same results as in DJL.
 */
final class ArrayProxies {

    private final Recorder recorder;
    private final IdentityHashMap<Object, Object> proxies = new IdentityHashMap<>();

    ArrayProxies(Recorder recorder) {
        this.recorder = recorder;
    }

    /** Returns the real object behind a stand-in of any recording; other objects unchanged. */
    static Object real(Object object) {
        if (object != null
                && Proxy.isProxyClass(object.getClass())
                && Proxy.getInvocationHandler(object) instanceof Handler handler) {
            return handler.real;
        }
        return object;
    }

    /** Returns the arrays that a method's result consists of. */
    static ImmutableList<NDArray> arraysIn(Object result) {
        Iterable<?> elements = ImmutableList.of();
        if (result instanceof NDArray) {
            elements = ImmutableList.of(result);
        } else if (result instanceof Iterable<?> list) {
            elements = list;
        }
        return Streams.stream(elements)
                .filter(NDArray.class::isInstance)
                .map(NDArray.class::cast)
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns a list of stand-ins. */
    NDList proxies(List<NDArray> arrays) {
        NDList list = new NDList(arrays.size());
        for (NDArray array : arrays) {
            list.add((NDArray) proxy(array));
        }
        return list;
    }

    /** Returns the stand-in for an array, a manager or an array's engine-level methods. */
    synchronized Object proxy(Object real) {
        return real(real) != real
                ? real
                : proxies.computeIfAbsent(
                        real,
                        key ->
                                Proxy.newProxyInstance(
                                        NDArray.class.getClassLoader(),
                                        interfaces(real),
                                        new Handler(this, real)));
    }

    private static Class<?>[] interfaces(Object real) {
        if (real instanceof NDManager.SystemNDManager) {
            return new Class<?>[] {NDManager.class, NDManager.SystemNDManager.class};
        }
        if (real instanceof NDManager) {
            return new Class<?>[] {NDManager.class};
        }
        return new Class<?>[] {real instanceof NDArray ? NDArray.class : NDArrayEx.class};
    }

    /** Replaces the result of a method by stand-ins. */
    private Object wrap(Object result) {
        if (result instanceof NDArray
                || result instanceof NDManager
                || result instanceof NDArrayEx) {
            return proxy(result);
        }
        if (result instanceof NDList list) {
            return proxies(list);
        }
        if (result instanceof List<?> list) {
            List<Object> wrapped = new ArrayList<>(list.size());
            list.forEach(element -> wrapped.add(wrap(element)));
            return wrapped;
        }
        return result;
    }

    private record Handler(ArrayProxies owner, Object real) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            Optional<NDArray> target = target();
            Operands operands = new Operands(target);
            Object[] reals = arguments == null ? new Object[0] : operands.realOf(arguments);
            Object result =
                    owner.recorder.operation(
                            method.getName(),
                            target.isPresent(),
                            operands.arrays(),
                            operands.opaque(),
                            () -> call(method, reals));
            if (owner.recorder.over()) {
                return result;
            }
            check(method, result, target);
            if (!owner.recorder.knows(arraysIn(result))) {
                CreationScope.acceptStandIns();
            }
            return owner.wrap(result);
        }

        private Optional<NDArray> target() {
            if (real instanceof NDArray array) {
                return Optional.of(array);
            }
            return real instanceof NDArrayEx methods
                    ? Optional.of(methods.getArray())
                    : Optional.empty();
        }

        private Object call(Method method, Object[] arguments) throws Throwable {
            try {
                return method.invoke(real, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private void check(Method method, Object result, Optional<NDArray> target) {
            if (result instanceof Buffer buffer && buffer.isDirect()) {
                // A view of the array's memory, so the array must not be closed while the view is
                // in use.
                target.ifPresent(owner.recorder::keep);
            } else if (!Operands.understood(result)) {
                owner.recorder.spoil(method.getName() + " returns a " + result.getClass());
            }
        }
    }
}
