package org.djlplan.memplan.djl.purity;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The effects of a method on its arguments, in terms of their origins. It only grows during the
 * analysis.
 */
final class Summary {

    /** Which arguments, or what they hold, it changes; and how that shows. */
    final Map<Integer, Finding> changes = new HashMap<>();

    /** What it returns, of that which it was handed or found. */
    final BitSet returns = new BitSet();

    /** Whether it returns something that it made. */
    boolean returnsNew;

    /** What an object that it made and returns holds. */
    final BitSet returnsHolding = new BitSet();

    /** By origin, what it puts into it. */
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
