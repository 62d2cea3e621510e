package org.djlplan.memplan.testing;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Arrays and managers without an engine, with types, shapes, content, owners, and an open or closed
 * state. As in DJL, arrays with the same content are equal. Only vectors of strings can be read.
 * All other operations throw.
 */
public final class FakeArrays {

    private FakeArrays() {}

    /** Returns a manager at the top of a tree. */
    public static NDManager manager() {
        return manager(Optional.empty());
    }

    /** Returns a manager below another one. */
    public static NDManager manager(NDManager parent) {
        return manager(Optional.of(parent));
    }

    private static NDManager manager(Optional<NDManager> parent) {
        return (NDManager)
                Proxy.newProxyInstance(
                        NDManager.class.getClassLoader(),
                        new Class<?>[] {NDManager.class},
                        new Manager(parent));
    }

    /** Returns an array of zeros without an owner. */
    public static NDArray array(DataType type, long... shape) {
        return array(manager(), type, shape);
    }

    /** Returns an array of zeros. */
    public static NDArray array(NDManager manager, DataType type, long... shape) {
        Shape dimensions = new Shape(shape);
        return array(manager, type, dimensions, new byte[Math.toIntExact(dimensions.size())]);
    }

    /** Returns a vector of bytes. */
    public static NDArray bytes(NDManager manager, int... values) {
        byte[] content = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            content[i] = (byte) values[i];
        }
        return array(manager, DataType.INT8, new Shape(values.length), content);
    }

    /** Returns a vector of strings, which must not contain line breaks. */
    public static NDArray strings(NDManager manager, String... values) {
        return array(
                manager,
                DataType.STRING,
                new Shape(values.length),
                String.join("\n", values).getBytes(StandardCharsets.UTF_8));
    }

    private static NDArray array(NDManager manager, DataType type, Shape shape, byte[] content) {
        return (NDArray)
                Proxy.newProxyInstance(
                        NDArray.class.getClassLoader(),
                        new Class<?>[] {NDArray.class},
                        new Array(manager, type, shape, ByteBuffer.wrap(content)));
    }

    private static UnsupportedOperationException refused(Method method) {
        return new UnsupportedOperationException(method.toString());
    }

    private static final class Manager implements InvocationHandler {

        private final Optional<NDManager> parent;
        private final List<AutoCloseable> temporary = new ArrayList<>();
        private boolean open = true;

        Manager(Optional<NDManager> parent) {
            this.parent = parent;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            return switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                case "toString" -> "manager";
                case "getParentManager" -> parent.orElse(null);
                case "isOpen" -> open;
                case "getDevice" -> Device.cpu();
                case "tempAttachInternal" -> {
                    if (!open) {
                        throw new IllegalStateException("closed");
                    }
                    temporary.add((AutoCloseable) arguments[2]);
                    yield null;
                }
                case "close" -> {
                    open = false;
                    List<AutoCloseable> resources = List.copyOf(temporary);
                    temporary.clear();
                    for (AutoCloseable resource : resources) {
                        resource.close();
                    }
                    yield null;
                }
                default -> throw refused(method);
            };
        }
    }

    private record Array(NDManager[] owner, DataType type, Shape shape, ByteBuffer content)
            implements InvocationHandler {

        Array(NDManager owner, DataType type, Shape shape, ByteBuffer content) {
            this(new NDManager[] {owner}, type, shape, content);
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            return switch (method.getName()) {
                case "equals" -> sameContent(arguments[0]);
                case "hashCode" -> shape.hashCode();
                case "toString" -> type + " " + shape;
                case "getDataType" -> type;
                case "getShape" -> shape;
                case "getManager" -> owner[0];
                case "getName" -> null;
                case "isReleased" -> owner[0] == null;
                case "size" -> shape.size();
                case "toByteBuffer" -> {
                    if (type == DataType.STRING) {
                        throw refused(method);
                    }
                    yield content.asReadOnlyBuffer();
                }
                case "toStringArray" -> {
                    if (type != DataType.STRING || shape.dimension() != 1) {
                        throw refused(method);
                    }
                    yield StandardCharsets.UTF_8
                            .decode(content.duplicate())
                            .toString()
                            .split("\n", -1);
                }
                case "close" -> {
                    owner[0] = null;
                    yield null;
                }
                default -> throw refused(method);
            };
        }

        private boolean sameContent(Object other) {
            return other != null
                    && Proxy.isProxyClass(other.getClass())
                    && Proxy.getInvocationHandler(other) instanceof Array array
                    && type == array.type
                    && shape.equals(array.shape)
                    && content.equals(array.content);
        }
    }
}
