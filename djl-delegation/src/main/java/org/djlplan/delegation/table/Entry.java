package org.djlplan.delegation.table;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;

/** A line of the table: one candidate that was tried. */
public sealed interface Entry {

    /** Returns what was tried. */
    Candidate candidate();

    /**
     * It ran.
     *
     * @param candidate what was tried
     * @param partitions how many delegate kernels it has
     * @param latency how fast it is
     * @param memoryBytes what it takes
     * @param errors how far its outputs are from the CPU kernels'
     */
    record Measured(
            Candidate candidate,
            int partitions,
            Latency latency,
            long memoryBytes,
            List<OutputError> errors)
            implements Entry {

        public Measured {
            checkArgument(partitions >= 0, "partitions: %s", partitions);
            checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
            errors = ImmutableList.copyOf(errors);
        }
    }

    /**
     * It did not run, and is not tried again.
     *
     * @param candidate what was tried
     * @param kind what happened
     * @param message in one line
     */
    record Failed(Candidate candidate, CandidateException.Kind kind, String message)
            implements Entry {}

    /**
     * Its outputs were outside the tolerance, and it was not timed.
     *
     * @param candidate what was tried
     * @param errors how far its outputs are from the CPU kernels'
     */
    record Wrong(Candidate candidate, List<OutputError> errors) implements Entry {

        public Wrong {
            errors = ImmutableList.copyOf(errors);
        }
    }
}
