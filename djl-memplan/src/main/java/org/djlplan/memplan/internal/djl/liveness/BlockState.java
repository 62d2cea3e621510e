package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import java.lang.reflect.Array;
import java.util.ArrayList;
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
            return ImmutableList.of(Array.getLength(value), hash(value));
        }
        return numbers.computeIfAbsent(value, key -> numbers.size());
    }

    /**
     * Returns a hash of an array of numbers, because a copy would need as much memory as the array.
     * It has 64 bits and mixes well, so that a changed array has the same hash only by a rare
     * accident.
     */
    private static long hash(Object array) {
        long hash = array.getClass().hashCode();
        if (array instanceof float[] floats) {
            for (float value : floats) {
                hash = mix(hash, Float.floatToRawIntBits(value));
            }
        } else if (array instanceof double[] doubles) {
            for (double value : doubles) {
                hash = mix(hash, Double.doubleToRawLongBits(value));
            }
        } else if (array instanceof int[] ints) {
            for (int value : ints) {
                hash = mix(hash, value);
            }
        } else if (array instanceof long[] longs) {
            for (long value : longs) {
                hash = mix(hash, value);
            }
        } else if (array instanceof byte[] bytes) {
            for (byte value : bytes) {
                hash = mix(hash, value);
            }
        } else if (array instanceof short[] shorts) {
            for (short value : shorts) {
                hash = mix(hash, value);
            }
        } else if (array instanceof char[] chars) {
            for (char value : chars) {
                hash = mix(hash, value);
            }
        } else {
            for (boolean value : (boolean[]) array) {
                hash = mix(hash, value ? 1 : 0);
            }
        }
        return hash;
    }

    private static long mix(long hash, long value) {
        long mixed = (hash ^ value) * 0x9E3779B97F4A7C15L;
        return mixed ^ (mixed >>> 32);
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
