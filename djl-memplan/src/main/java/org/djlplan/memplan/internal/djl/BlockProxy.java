package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;

/**
 * Wraps a block of any class, and replaces its forward pass for inference by a planned one; all
 * other calls – training, streaming, saving, methods that newer versions of DJL added – go to the
 * original.
 */
final class BlockProxy implements InvocationHandler {

    private static final int TRAINING = 2;

    private final Block inner;
    private final InferencePass planned;

    private BlockProxy(Block inner, InferencePass planned) {
        this.inner = inner;
        this.planned = planned;
    }

    /**
     * Returns a block with all interfaces of {@code inner}.
     *
     * @param planned serves inference
     */
    static Block wrap(Block inner, InferencePass planned) {
        return (Block)
                Proxy.newProxyInstance(
                        inner.getClass().getClassLoader(),
                        PublicInterfaces.of(inner.getClass()),
                        new BlockProxy(inner, planned));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (isInference(method, arguments)) {
            return planned.forward(
                    (ParameterStore) arguments[0], (NDList) arguments[1], params(arguments));
        }
        if (method.getDeclaringClass() == Object.class && method.getName().equals("equals")) {
            return proxy == arguments[0];
        }
        try {
            return method.invoke(inner, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static boolean isInference(Method method, Object[] arguments) {
        return method.getName().equals("forward")
                && arguments.length > TRAINING
                && Boolean.FALSE.equals(arguments[TRAINING]);
    }

    @SuppressWarnings("unchecked") // declared so by Block.forward
    private static Optional<PairList<String, Object>> params(Object[] arguments) {
        return arguments.length > TRAINING + 1
                ? Optional.ofNullable((PairList<String, Object>) arguments[TRAINING + 1])
                : Optional.empty();
    }
}
