package org.djlplan.memplan.internal.djl.purity;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The effects of a method on its arguments, in terms of their origins. During the analysis, effects
 * are only added.
 */
final class Summary {

    /** The arguments, or content of them, that it changes; with the finding. */
    final Map<Integer, Finding> changes = new HashMap<>();

    /** Arguments and existing objects that it may return. */
    final BitSet returns = new BitSet();

    /** Whether it may return a new object. */
    boolean returnsNew;

    /** The content of a new object that it returns. */
    final BitSet returnsHolding = new BitSet();

    /** By origin, the objects that it stores there. */
    final Map<Integer, BitSet> stores = new HashMap<>();

    void store(int origin, BitSet held) {
        stores.computeIfAbsent(origin, key -> new BitSet()).or(held);
    }

    /** Returns a number that grows whenever anything here does. */
    int extent() {
        return changes.size()
                + returns.cardinality()
                + returnsHolding.cardinality()
                + (returnsNew ? 1 : 0)
                + stores.values().stream().mapToInt(held -> 1 + held.cardinality()).sum();
    }
}
