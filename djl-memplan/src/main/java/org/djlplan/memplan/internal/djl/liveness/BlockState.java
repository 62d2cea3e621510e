package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.djl.purity.ObjectWalk;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A snapshot of a block's content that can affect its forward pass: numbers and strings by value,
 * arrays by type, shape and whether they are closed, other objects by the order in which they are
 * first reached, so that a changed reference shows. Immutable.
 */
final class BlockState {

    private final List<Object> values = new ArrayList<>();
    private final List<String> places = new ArrayList<>();

    private BlockState() {}

    /** Returns the current state of a block; empty if it cannot be read completely. */
    static Optional<BlockState> of(Object block, Collection<Class<?>> statics) {
        BlockState state = new BlockState();
        IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
        boolean complete =
                ObjectWalk.walk(
                        ImmutableList.of(block),
                        statics,
                        (holder, place, value) -> {
                            Class<?> type =
                                    holder instanceof Class<?> itself ? itself : holder.getClass();
                            state.places.add(
                                    place.isEmpty()
                                            ? "what a " + type.getSimpleName() + " holds"
                                            : place + " of " + type.getSimpleName());
                            state.values.add(token(value, numbers));
                        });
        return complete ? Optional.of(state) : Optional.empty();
    }

    private static Object token(Object value, IdentityHashMap<Object, Integer> numbers) {
        if (value instanceof Number
                || value instanceof CharSequence
                || value instanceof Boolean
                || value instanceof Character
                || value.getClass().getName().startsWith("java.util.concurrent.atomic.AtomicB")) {
            return value.toString();
        }
        if (value instanceof Enum<?> || value instanceof Class<?>) {
            return value;
        }
        if (value instanceof NDArray array) {
            return array.isReleased()
                    ? "closed"
                    : ImmutableList.of(array.getDataType(), array.getShape());
        }
        if (value.getClass().isArray() && value.getClass().getComponentType().isPrimitive()) {
            return Arrays.deepToString(new Object[] {value});
        }
        return numbers.computeIfAbsent(value, key -> numbers.size());
    }

    /** Returns a description of the difference from another state, if there is one. */
    Optional<String> difference(BlockState other) {
        int common = Math.min(values.size(), other.values.size());
        for (int i = 0; i < common; i++) {
            if (!values.get(i).equals(other.values.get(i))
                    || !places.get(i).equals(other.places.get(i))) {
                return Optional.of(places.get(i));
            }
        }
        return values.size() == other.values.size()
                ? Optional.empty()
                : Optional.of((values.size() > common ? this : other).places.get(common));
    }

    /**
     * Returns whether a block references a stand-in that a recording left in an unmodifiable place.
     */
    static boolean holdsStandIn(Object block, Collection<Class<?>> statics) {
        Set<Object> found = new HashSet<>();
        boolean complete =
                ObjectWalk.walk(
                        ImmutableList.of(block),
                        statics,
                        (holder, place, value) -> {
                            if (ArrayProxies.real(value) != value) {
                                found.add(place);
                            }
                        });
        return !complete || !found.isEmpty();
    }

    /** Returns the arrays that a block references now. */
    static Set<NDArray> arraysHeld(Object block, Collection<Class<?>> statics) {
        Set<NDArray> held = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean complete =
                ObjectWalk.walk(
                        ImmutableList.of(block),
                        statics,
                        (holder, place, value) -> {
                            if (ArrayProxies.real(value) instanceof NDArray array) {
                                held.add(array);
                            }
                        });
        if (!complete) {
            throw new IllegalStateException("the block holds more than can be looked at");
        }
        return held;
    }
}
