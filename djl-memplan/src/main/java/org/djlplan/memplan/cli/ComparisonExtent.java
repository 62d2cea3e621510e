package org.djlplan.memplan.cli;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSet;
import java.util.Set;

/**
 * How much is compared.
 *
 * @param rounds number of turns that the timed predictions are spread over, at least 1
 * @param fresh how often all of it is done with new processes, at least 1
 * @param against what the stock engine runs with besides its usual allocator, in this order
 * @param ways how the model is run besides stock, in this order; at least one
 * @param tolerance how far outputs may be from stock's, relatively, even if a way promises more
 */
record ComparisonExtent(
        int rounds, int fresh, Set<Allocator> against, Set<Way> ways, double tolerance) {

    ComparisonExtent {
        checkArgument(rounds >= 1, "--rounds must be at least 1, not %s", rounds);
        checkArgument(fresh >= 1, "--fresh must be at least 1, not %s", fresh);
        checkArgument(tolerance >= 0, "--tolerance must not be negative: %s", tolerance);
        checkArgument(!ways.isEmpty() && !ways.contains(Way.STOCK), "ways besides stock: %s", ways);
        against = ImmutableSet.copyOf(against);
        ways = ImmutableSet.copyOf(ways);
    }
}
