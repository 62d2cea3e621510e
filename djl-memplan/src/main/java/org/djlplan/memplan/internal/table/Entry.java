package org.djlplan.memplan.internal.table;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Map;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.Quantiles;

/** A row of a table: one candidate that was tried. */
public sealed interface Entry {

    /** Returns the candidate that was tried. */
    Candidate candidate();

    /** Returns whether a candidate with these errors of its outputs may serve. */
    static boolean accepts(Tolerance tolerance, Candidate candidate, List<OutputError> errors) {
        return errors.stream().allMatch(tolerance.of(candidate)::admits);
    }

    /**
     * A candidate that ran.
     *
     * @param candidate that was tried
     * @param kernels number of delegate kernels
     * @param latency of an inference
     * @param memoryBytes that it takes
     * @param errors of its outputs, compared with the CPU kernels'
     */
    record Measured(
            Candidate candidate,
            int kernels,
            Latency latency,
            long memoryBytes,
            List<OutputError> errors)
            implements Entry {

        public Measured {
            checkArgument(kernels >= 0, "kernels: %s", kernels);
            checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
            errors = ImmutableList.copyOf(errors);
        }
    }

    /**
     * A candidate that did not run; it is not tried again.
     *
     * @param candidate that was tried
     * @param kind of failure
     * @param message in one line
     */
    record Failed(Candidate candidate, CandidateException.Kind kind, String message)
            implements Entry {

        public Failed {
            String line =
                    message.lines().filter(text -> !text.isEmpty()).findFirst().orElse("it failed");
            message = CharMatcher.javaIsoControl().replaceFrom(line, ' ');
        }
    }

    /**
     * A candidate whose outputs were outside the tolerance; it is not tried again.
     *
     * @param candidate that was tried
     * @param errors of its outputs, compared with the CPU kernels'
     */
    record Wrong(Candidate candidate, List<OutputError> errors) implements Entry {

        public Wrong {
            errors = ImmutableList.copyOf(errors);
        }
    }

    /**
     * Latency of a candidate.
     *
     * @param medianNanos of one inference
     * @param lowNanos lower quartile
     * @param highNanos upper quartile
     * @param samples number of timed inferences
     */
    record Latency(long medianNanos, long lowNanos, long highNanos, int samples) {

        public Latency {
            checkArgument(samples > 0, "samples: %s", samples);
            checkArgument(
                    0 <= lowNanos && lowNanos <= medianNanos && medianNanos <= highNanos,
                    "%s, %s, %s nanoseconds",
                    lowNanos,
                    medianNanos,
                    highNanos);
        }

        /**
         * Returns the latency computed from times of inferences.
         *
         * @param nanos of each, at least one
         */
        public static Latency of(long[] nanos) {
            Map<Integer, Double> quartiles = Quantiles.quartiles().indexes(1, 2, 3).compute(nanos);
            return new Latency(
                    Math.round(quartiles.get(2)),
                    Math.round(quartiles.get(1)),
                    Math.round(quartiles.get(3)),
                    nanos.length);
        }
    }
}
