package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDScope;
import java.lang.reflect.Field;
import java.util.Collections;
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

    private static final Optional<Field> RESOURCES = resources();

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

    private static Optional<Field> resources() {
        try {
            Field field = NDScope.class.getDeclaredField("resources");
            field.setAccessible(true);
            return field.getType() == IdentityHashMap.class ? Optional.of(field) : Optional.empty();
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.debug("NDScope does not tell of new arrays", e);
            return Optional.empty();
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
