package org.djlplan.memplan.usage;

import java.util.Collection;

/**
 * Sizes below which there is no plan (Pisarchyk and Lee 2020, section 3). Given {@link
 * PlanningProblem#records()} the bounds hold for plans without aliases; given {@link
 * PlanningProblem#units()}, for plans with exactly these alias classes: another choice of classes
 * may have a lower one.
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
