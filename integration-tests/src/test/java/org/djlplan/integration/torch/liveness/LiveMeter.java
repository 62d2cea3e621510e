package org.djlplan.integration.torch.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Supplier;

/**
 * Measures the peak bytes of arrays while an action runs on this thread. The meter sees each new
 * array before DJL's scopes do, and so before the arrays that the new one replaces are closed.
 */
final class LiveMeter {

    private final List<NDArray> alive = new ArrayList<>();
    private int created;
    private long mostBytes;

    private LiveMeter() {}

    /** The measured peak; {@code outputs} are still open. */
    record Reading(NDList outputs, int created, long mostBytes, int leftOpen) {}

    static Reading of(Supplier<NDList> action) {
        LiveMeter meter = new LiveMeter();
        try {
            ThreadLocal<Deque<NDScope>> stack = stack();
            Deque<NDScope> before = stack.get();
            Field resources = NDScope.class.getDeclaredField("resources");
            resources.setAccessible(true);
            try (NDScope first = new NDScope()) {
                stack.set(meter.new Watched(first, resources));
                NDList outputs = action.get();
                meter.alive.removeIf(NDArray::isReleased);
                return new Reading(outputs, meter.created, meter.mostBytes, meter.alive.size());
            } finally {
                stack.set(before);
                before.clear();
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("another kind of NDScope", e);
        }
    }

    @SuppressWarnings("unchecked")
    private static ThreadLocal<Deque<NDScope>> stack() throws ReflectiveOperationException {
        Field field = NDScope.class.getDeclaredField("SCOPE_STACK");
        field.setAccessible(true);
        return (ThreadLocal<Deque<NDScope>>) field.get(null);
    }

    private void created(NDArray array) {
        alive.removeIf(NDArray::isReleased);
        alive.add(array);
        created++;
        mostBytes = Math.max(mostBytes, TorchStorage.bytesOf(alive));
    }

    /** A stack of DJL scopes that keeps the meter's scope last. */
    private final class Watched extends ArrayDeque<NDScope> {

        private static final long serialVersionUID = 1L;

        private final transient NDScope ours;
        private final transient Field resources;

        Watched(NDScope ours, Field resources) throws IllegalAccessException {
            this.ours = ours;
            this.resources = resources;
            resources.set(ours, new Tee());
        }

        @Override
        public boolean isEmpty() {
            return false;
        }

        @Override
        public NDScope getLast() {
            return ours;
        }

        @SuppressWarnings("unchecked")
        private IdentityHashMap<NDArray, NDArray> actual() {
            NDScope last = peekLast();
            try {
                return last == null
                        ? new IdentityHashMap<>()
                        : (IdentityHashMap<NDArray, NDArray>) resources.get(last);
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }

        private final class Tee extends IdentityHashMap<NDArray, NDArray> {

            private static final long serialVersionUID = 1L;

            @Override
            public NDArray put(NDArray key, NDArray value) {
                // Arrays that are passed on to an outer scope arrive a second time.
                if (alive.stream().noneMatch(array -> array == key)) {
                    created(key);
                }
                return actual().put(key, value);
            }

            @Override
            public NDArray remove(Object key) {
                return actual().remove(key);
            }
        }
    }
}
