package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Comparator;
import org.djlplan.memplan.spi.Candidate;

/**
 * A candidate that runs and whose outputs are right.
 *
 * @param candidate which
 * @param partitions how many delegate kernels it has
 * @param memoryBytes what it takes, as measured; 0 where the system does not tell
 */
public record Contender(Candidate candidate, int partitions, long memoryBytes) {

    /** The simplest first: fewest delegate kernels, then fewest threads, then fewest operators. */
    public static final Comparator<Contender> SIMPLEST =
            Comparator.comparingInt(Contender::partitions)
                    // The engine's default, −1, may be any number: it counts as the most.
                    .thenComparingInt(c -> c.candidate.threads() - 1 & Integer.MAX_VALUE)
                    .thenComparingInt(c -> c.candidate.operators().size());

    public Contender {
        checkArgument(partitions >= 0, "partitions: %s", partitions);
        checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
    }
}
