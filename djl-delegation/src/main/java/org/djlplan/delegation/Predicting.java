package org.djlplan.delegation;

import java.util.List;
import java.util.Set;
import org.djlplan.memplan.spi.DelegationChoice;

/** Chooses without running anything. */
@FunctionalInterface
interface Predicting {

    /**
     * Returns what is likely to be good.
     *
     * @param partitions what the delegate could take: sets of operators
     */
    DelegationChoice predict(Request request, List<Set<Integer>> partitions);
}
