package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * What was measured of a cost.
 *
 * @param nanos how long it took in all
 * @param amount for how much: units of {@link org.djlplan.delegation.partition.Work}, delegate
 *     kernels, or bytes
 */
public record Cost(double nanos, double amount) {

    public Cost {
        checkArgument(nanos >= 0 && nanos < 1e18, "nanos: %s", nanos);
        checkArgument(amount > 0 && amount < 1e18, "amount: %s", amount);
    }

    /** Returns both together. */
    Cost plus(Cost other) {
        return new Cost(nanos + other.nanos, amount + other.amount);
    }

    /** Returns a part of it. */
    Cost times(double factor) {
        return new Cost(nanos * factor, amount * factor);
    }
}
