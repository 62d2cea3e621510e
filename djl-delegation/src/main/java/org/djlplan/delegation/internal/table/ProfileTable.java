package org.djlplan.delegation.internal.table;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * The result of one profiling run.
 *
 * @param partitions reported by the delegate: sets of operators, in execution order
 * @param entries candidates that were tried, in the order of the trials
 * @param chosen the candidate to use: a measured one, or the CPU kernels if nothing could be
 *     measured
 * @param lighter the candidates to use while other predictions run: the best of each smaller number
 *     of threads, most threads first; all were measured
 * @param reason of the choice, in one line
 * @param caveat a remark on the times, such as that other work disturbed them
 * @param inferences total number of inferences
 * @param nanos total duration
 */
public record ProfileTable(
        List<SortedSet<Integer>> partitions,
        List<Entry> entries,
        Candidate chosen,
        List<Candidate> lighter,
        String reason,
        Optional<String> caveat,
        int inferences,
        long nanos) {

    public ProfileTable {
        partitions = copy(partitions);
        entries = ImmutableList.copyOf(entries);
        lighter = ImmutableList.copyOf(lighter);
        checkArgument(
                !chosen.delegates() || measured(entries, chosen).isPresent(),
                "%s was not measured",
                chosen);
        int threads = chosen.threads();
        for (Candidate next : lighter) {
            checkArgument(measured(entries, next).isPresent(), "%s was not measured", next);
            checkArgument(
                    next.threads() > 0 && (threads == -1 || next.threads() < threads),
                    "%s threads after %s",
                    next.threads(),
                    threads);
            threads = next.threads();
        }
        checkArgument(inferences >= 0 && nanos >= 0, "%s inferences, %s ns", inferences, nanos);
    }

    /** Creates a table whose choice holds for any load, without a caveat. */
    public ProfileTable(
            List<SortedSet<Integer>> partitions,
            List<Entry> entries,
            Candidate chosen,
            String reason,
            int inferences,
            long nanos) {
        this(partitions, entries, chosen, List.of(), reason, Optional.empty(), inferences, nanos);
    }

    /**
     * Returns the measurement of a candidate; empty if it was not measured, failed or was wrong.
     */
    public Optional<Entry.Measured> measured(Candidate candidate) {
        return measured(entries, candidate);
    }

    private static Optional<Entry.Measured> measured(List<Entry> entries, Candidate candidate) {
        return entries.stream()
                .filter(entry -> entry.candidate().equals(candidate))
                .filter(Entry.Measured.class::isInstance)
                .map(Entry.Measured.class::cast)
                .findFirst();
    }

    /** Returns this table with a remark on the times. */
    public ProfileTable with(Optional<String> caution) {
        return new ProfileTable(
                partitions, entries, chosen, lighter, reason, caution, inferences, nanos);
    }

    private static List<SortedSet<Integer>> copy(Collection<? extends SortedSet<Integer>> sets) {
        return sets.stream().<SortedSet<Integer>>map(ImmutableSortedSet::copyOf).toList();
    }

    /** A row of the table: one candidate that was tried. */
    public sealed interface Entry {

        /** Returns the candidate that was tried. */
        Candidate candidate();

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
                implements Entry {}

        /**
         * A candidate whose outputs were outside the tolerance; it was not timed.
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
                Map<Integer, Double> quartiles =
                        Quantiles.quartiles().indexes(1, 2, 3).compute(nanos);
                return new Latency(
                        Math.round(quartiles.get(2)),
                        Math.round(quartiles.get(1)),
                        Math.round(quartiles.get(3)),
                        nanos.length);
            }
        }
    }
}
