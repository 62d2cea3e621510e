package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDScope;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scope that reports every array created on this thread to a listener, and closes nothing itself.
 *
 * <p>An array's constructor registers the array in DJL's {@link NDScope}, which puts it into a
 * private map. Only this map sees all arrays, including internal ones of composite operations. This
 * class replaces the map by one that reports them. Arrays created inside a scope of user code go to
 * that scope and are never reported here.
 */
final class CreationScope {

    private static final Logger logger = LoggerFactory.getLogger(CreationScope.class);

    private static final Optional<Field> RESOURCES = field("resources", IdentityHashMap.class);
    private static final Optional<Field> STACK = field("SCOPE_STACK", ThreadLocal.class);

    private CreationScope() {}

    /** Returns whether this version of DJL supports such scopes. */
    static boolean available() {
        return RESOURCES.isPresent();
    }

    /**
     * Runs an action on the current thread and reports the arrays it creates to the listener.
     *
     * @throws IllegalStateException if such scopes are not available
     */
    static <T> T listen(Listener listener, Supplier<T> action) {
        Field resources =
                RESOURCES.orElseThrow(() -> new IllegalStateException("unknown kind of NDScope"));
        try (NDScope scope = new NDScope()) {
            resources.set(scope, new Listening(listener));
            return action.get();
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Optional<Field> field(String name, Class<?> type) {
        try {
            Field field = NDScope.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.getType() == type ? Optional.of(field) : Optional.empty();
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.debug("NDScope does not tell of new arrays", e);
            return Optional.empty();
        }
    }

    /**
     * Lets user code remove an array from its own scope, which is the innermost one, by the array's
     * stand-in.
     */
    @SuppressWarnings("unchecked") // NDScope declares its fields so
    static void acceptStandIns() {
        try {
            ThreadLocal<Deque<NDScope>> stack =
                    (ThreadLocal<Deque<NDScope>>) STACK.orElseThrow().get(null);
            Field resources = RESOURCES.orElseThrow();
            NDScope inner = stack.get().getLast();
            IdentityHashMap<NDArray, NDArray> arrays =
                    (IdentityHashMap<NDArray, NDArray>) resources.get(inner);
            if (!(arrays instanceof Listening || arrays instanceof Unwrapping)) {
                resources.set(inner, new Unwrapping(arrays));
            }
        } catch (IllegalAccessException | RuntimeException e) {
            logger.debug("A scope does not know stand-ins", e);
        }
    }

    /** The arrays of a scope, which may be removed by their stand-ins. */
    private static final class Unwrapping extends IdentityHashMap<NDArray, NDArray> {

        private static final long serialVersionUID = 1L;

        Unwrapping(IdentityHashMap<NDArray, NDArray> arrays) {
            super(arrays);
        }

        @Override
        public NDArray remove(Object key) {
            return super.remove(ArrayProxies.real(key));
        }
    }

    /** Stores nothing; reports added arrays to the listener. */
    private static final class Listening extends IdentityHashMap<NDArray, NDArray> {

        private static final long serialVersionUID = 1L;

        private final transient Listener listener;

        Listening(Listener listener) {
            super(1);
            this.listener = listener;
        }

        @Override
        public NDArray put(NDArray key, NDArray value) {
            listener.created(key);
            return value;
        }

        @Override
        public NDArray remove(Object key) {
            if (key instanceof NDArray array) {
                listener.unregistered(array);
                return array;
            }
            return super.remove(key);
        }

        @Override
        public Set<NDArray> keySet() {
            return Collections.emptySet();
        }
    }

    /** A listener for the arrays created on one thread. */
    interface Listener {

        /**
         * Called by an array's constructor when the engine has created the array, so it must not
         * throw.
         */
        void created(NDArray array);

        /** Called when user code removes an array from the scope. */
        void unregistered(NDArray array);
    }
}
