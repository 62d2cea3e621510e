package org.djlplan.memplan.internal.planning;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The table of measurements of a streamed model's kernels. The operators of a candidate are steps
 * of the model's copy. Candidates whose outputs were right but which were slower have no rows,
 * because other work may have slowed them.
 *
 * @param costs the costs of the steps in CPU kernels
 * @param faster candidates that may serve, the latest first
 * @param wrong candidates that are not tried again, the latest first
 */
public record KernelTrials(StepCosts costs, List<Faster> faster, List<Entry.Wrong> wrong) {

    private static final int MOST_ROWS = 8;

    public KernelTrials {
        faster = ImmutableList.copyOf(faster);
        wrong = ImmutableList.copyOf(wrong);
    }

    /** Creates a table without trials. */
    public KernelTrials(StepCosts costs) {
        this(costs, ImmutableList.of(), ImmutableList.of());
    }

    /** Returns this table with a candidate that may serve; a row of the same steps is dropped. */
    KernelTrials with(Faster trial) {
        Stream<Faster> others = faster.stream().filter(e -> !e.steps().equals(trial.steps()));
        return new KernelTrials(costs, latest(trial, others), wrong);
    }

    /** Returns this table with a candidate that is not to be tried again. */
    KernelTrials with(Entry.Wrong entry) {
        return new KernelTrials(costs, faster, latest(entry, wrong.stream()));
    }

    private static <T> List<T> latest(T first, Stream<T> others) {
        return Stream.concat(Stream.of(first), others).limit(MOST_ROWS).toList();
    }

    /** Returns whether some steps were tried. */
    public boolean tried(SortedSet<Integer> steps) {
        return candidates().anyMatch(candidate -> candidate.operators().equals(steps));
    }

    /** Returns the candidates of all rows. */
    Stream<Candidate> candidates() {
        return Stream.concat(faster.stream().map(Faster::entry), wrong.stream())
                .map(Entry::candidate);
    }

    /**
     * A candidate that was faster than the CPU kernels.
     *
     * @param entry the candidate's row
     * @param forBytes the memory for arena and delegate together for which the candidate was
     *     selected
     * @param cpuNanos the time of a prediction in CPU kernels alone, in the same trial
     */
    public record Faster(Entry.Measured entry, long forBytes, long cpuNanos) {

        public Faster {
            checkArgument(entry.candidate().delegates(), "nothing was delegated");
            checkArgument(cpuNanos > 0, "%s ns", cpuNanos);
        }

        /** Returns the steps in the delegate. */
        public SortedSet<Integer> steps() {
            return entry.candidate().operators();
        }

        /** Returns this candidate, marked as selected for other bytes. */
        public Faster selectedFor(long otherBytes) {
            return new Faster(entry, otherBytes, cpuNanos);
        }
    }
}
