package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A snapshot of a block's content that can affect its forward pass: numbers and texts by value,
 * arrays by type, shape and whether they are closed, other objects by the order in which they are
 * first reached, so that a changed reference shows. Immutable.
 */
final class BlockState {

    private final List<Object> values = new ArrayList<>();
    private final List<String> places = new ArrayList<>();
    private final Optional<String> unseen;

    private BlockState(Object block) {
        IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
        unseen =
                ObjectWalk.walk(
                        block,
                        (place, value) -> {
                            places.add(place);
                            values.add(token(value, numbers));
                            return value;
                        });
    }

    /** Returns the current state of a block. */
    static BlockState of(Object block) {
        return new BlockState(block);
    }

    /** Returns the first field whose content cannot be seen, and why; empty if all is seen. */
    Optional<String> unseen() {
        return unseen;
    }

    private static Object token(Object value, IdentityHashMap<Object, Integer> numbers) {
        if (ObjectWalk.isValue(value)
                || value instanceof Enum<?>
                || value instanceof Shape
                || value instanceof Device) {
            return value;
        }
        if (value instanceof NDArray array) {
            return array.isReleased()
                    ? "closed"
                    : ImmutableList.of(array.getDataType(), array.getShape());
        }
        Class<?> type = value.getClass();
        if (type.isArray() && type.getComponentType().isPrimitive()) {
            int length = Math.min(Array.getLength(value), ObjectWalk.MOST_NUMBERS);
            Object copy = Array.newInstance(type.getComponentType(), length);
            System.arraycopy(value, 0, copy, 0, length);
            return copy;
        }
        return numbers.computeIfAbsent(value, key -> numbers.size());
    }

    /** Returns the place of the first difference from another state, if there is one. */
    Optional<String> difference(BlockState other) {
        int common = Math.min(values.size(), other.values.size());
        for (int i = 0; i < common; i++) {
            if (!Objects.deepEquals(values.get(i), other.values.get(i))
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
    static boolean holdsStandIn(Object block) {
        Set<Object> found = new HashSet<>();
        Optional<String> unseen =
                ObjectWalk.walk(
                        block,
                        (place, value) -> {
                            if (ArrayProxies.real(value) != value) {
                                found.add(place);
                            }
                            return value;
                        });
        return unseen.isPresent() || !found.isEmpty();
    }

    /**
     * Returns the arrays that a block references now.
     *
     * @throws IllegalStateException if it cannot be seen completely
     */
    static Set<NDArray> arraysHeld(Object block) {
        Set<NDArray> held = Collections.newSetFromMap(new IdentityHashMap<>());
        Optional<String> unseen =
                ObjectWalk.walk(
                        block,
                        (place, value) -> {
                            if (ArrayProxies.real(value) instanceof NDArray array) {
                                held.add(array);
                            }
                            return value;
                        });
        unseen.ifPresent(
                why -> {
                    throw new IllegalStateException(why);
                });
        return held;
    }
}
