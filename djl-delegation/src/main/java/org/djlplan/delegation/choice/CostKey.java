package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Comparator;

/**
 * What a cost is of.
 *
 * @param kind what costs
 * @param operator the operator's type, for example {@code CONV_2D}, of other types than 32-bit
 *     floats with the type of the elements it writes, for example {@code CONV_2D:INT8}; empty for
 *     kinds that are not about operators
 * @param threads per prediction, −1 for the engine's default
 */
public record CostKey(Kind kind, String operator, int threads) implements Comparable<CostKey> {

    /** Longest name of an operator; custom ones bring their own. */
    static final int MOST_CHARACTERS = 100;

    private static final Comparator<CostKey> ORDER =
            Comparator.comparing(CostKey::kind)
                    .thenComparing(CostKey::operator)
                    .thenComparingInt(CostKey::threads);

    /** What costs. */
    public enum Kind {
        /** An operator in its CPU kernel, per unit of work. */
        CPU,
        /** An operator in a delegate kernel, per unit of work. */
        DELEGATE,
        /** A delegate kernel, whatever it does. */
        KERNEL,
        /** A byte of a tensor that enters or leaves a delegate kernel. */
        CROSSING;

        /** Returns whether costs of this kind are about operators. */
        boolean ofOperators() {
            return this == CPU || this == DELEGATE;
        }
    }

    public CostKey {
        checkArgument(
                kind.ofOperators() != operator.isEmpty() && operator.length() <= MOST_CHARACTERS,
                "a cost of %s with operator \"%s\"",
                kind,
                operator);
        checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
    }

    @Override
    public int compareTo(CostKey other) {
        return ORDER.compare(this, other);
    }
}
