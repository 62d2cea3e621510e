package org.djlplan.memplan.internal.usage;

import java.util.Collection;

/**
 * Computes lower bounds of the size of plans (Pisarchyk and Lee 2020, section 3). For {@link
 * PlanningProblem#records()} the bounds hold for plans without aliases; for {@link
 * PlanningProblem#units()} they hold for plans with exactly these alias classes: with other
 * classes, plans may be smaller.
 */
public final class LowerBounds {

    private LowerBounds() {}

    /**
     * Returns the bound in bytes for offset calculation: the maximum operator breadth.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    public static long offsetBytes(Collection<UsageRecord> records) {
        return new OperatorProfiles(records).maximumBreadthBytes();
    }

    /**
     * Returns the bound in bytes for shared objects: the sum of the positional maxima.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    public static long sharedObjectBytes(Collection<UsageRecord> records) {
        long sum = 0;
        for (long maximum : PositionalMaxima.of(records)) {
            sum = UsageRecords.addBytes(sum, maximum);
        }
        return sum;
    }
}
