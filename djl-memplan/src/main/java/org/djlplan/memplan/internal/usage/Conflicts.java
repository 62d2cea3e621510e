package org.djlplan.memplan.internal.usage;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Pairs of tensors that must not share memory although their usage intervals do not overlap,
 * because only the serial order separates them and operators may run in another order.
 *
 * <p>A symmetric relation in bit sets, one per tensor: at most n²/8 bytes for n tensors.
 */
public final class Conflicts {

    /** No pairs: operators run in the serial order, one after another. */
    public static final Conflicts NONE = new Conflicts(Map.of());

    private static final BitSet EMPTY = new BitSet();

    private final Map<Integer, BitSet> others;

    private Conflicts(Map<Integer, BitSet> others) {
        this.others = others;
    }

    /** Collects pairs of tensors. */
    public static final class Builder {

        private final Map<Integer, BitSet> others = new HashMap<>();

        /**
         * Adds a pair of two different tensors, in any order; repeated pairs are allowed.
         *
         * @throws IllegalArgumentException if they are the same, or an id is negative
         */
        public Builder add(int tensor, int other) {
            checkArgument(tensor != other, "tensor %s in conflict with itself", tensor);
            checkArgument(tensor >= 0 && other >= 0, "negative id: %s or %s", tensor, other);
            others.computeIfAbsent(tensor, id -> new BitSet()).set(other);
            others.computeIfAbsent(other, id -> new BitSet()).set(tensor);
            return this;
        }

        /** Returns the relation of all pairs added. */
        public Conflicts build() {
            Map<Integer, BitSet> copies = new HashMap<>();
            others.forEach((tensor, set) -> copies.put(tensor, (BitSet) set.clone()));
            return new Conflicts(copies);
        }
    }

    public boolean isEmpty() {
        return others.isEmpty();
    }

    /** Returns whether the two tensors are a pair. */
    public boolean contains(int tensor, int other) {
        return others.getOrDefault(tensor, EMPTY).get(other);
    }

    /** Returns the tensors that are in a pair, ascending. */
    public int[] tensors() {
        int[] tensors = Ints.toArray(others.keySet());
        Arrays.sort(tensors);
        return tensors;
    }

    /** Returns the other tensors of all pairs with {@code tensor}, ascending. */
    public IntStream of(int tensor) {
        return others.getOrDefault(tensor, EMPTY).stream();
    }

    /** Returns the pairs of the mapped tensors; pairs that map to the same value disappear. */
    Conflicts map(IntUnaryOperator mapping) {
        Builder mapped = new Builder();
        others.forEach(
                (tensor, set) -> {
                    int to = mapping.applyAsInt(tensor);
                    set.stream()
                            .map(mapping)
                            .filter(other -> other != to)
                            .forEach(other -> mapped.add(to, other));
                });
        return mapped.build();
    }
}
