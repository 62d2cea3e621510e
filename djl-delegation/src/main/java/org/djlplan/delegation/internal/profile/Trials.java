package org.djlplan.delegation.internal.profile;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongSupplier;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * All candidates that were run, with their results. A candidate that failed or was wrong is not run
 * again.
 */
final class Trials {

    /** After this many crashed or hanging processes, nothing new is tried. */
    static final int MOST_CRASHES = 4;

    /** Minimum duration of a turn of a fast candidate, long enough for precise timing. */
    private static final long TURN_NANOS = 4_000_000;

    private static final int MOST_PER_TURN = 10;

    /** The result of a candidate's runs so far. */
    private sealed interface Outcome {

        record Proven(Contender contender, Trial trial, ImmutableLongArray nanos)
                implements Outcome {}

        record Rejected(Entry entry) implements Outcome {}
    }

    private final CandidateRunner runner;
    private final Tolerance tolerance;
    private final TimeBudget budget;
    private final Map<Candidate, Outcome> outcomes = new LinkedHashMap<>();
    private final Set<Candidate> released = new HashSet<>();
    private boolean failedWhenTimed;
    private int crashes;
    private double nanosPerInference;

    Trials(CandidateRunner runner, Tolerance tolerance, TimeBudget budget) {
        this.runner = runner;
        this.tolerance = tolerance;
        this.budget = budget;
    }

    /** Returns the budget from which runs are taken. */
    TimeBudget budget() {
        return budget;
    }

    /** Prepares and verifies a candidate, if it is not prepared; empty if it cannot be used. */
    Optional<Contender> prove(Candidate candidate) throws InterruptedException {
        boolean first = !outcomes.containsKey(candidate);
        if ((first && crashes < MOST_CRASHES) || released.remove(candidate)) {
            budget.step();
            long before = budget.elapsedNanos();
            try {
                Trial trial = runner.prepare(candidate);
                budget.ran(trial.inferences());
                nanosPerInference =
                        (double) (budget.elapsedNanos() - before) / Math.max(1, trial.inferences());
                judge(candidate, trial, first);
            } catch (CandidateException e) {
                reject(candidate, e);
            }
        }
        return outcomes.get(candidate) instanceof Outcome.Proven proven
                ? Optional.of(proven.contender())
                : Optional.empty();
    }

    private void judge(Candidate candidate, Trial trial, boolean first) {
        if (!Entry.accepts(tolerance, candidate, trial.errors())) {
            runner.release(candidate);
            outcomes.put(
                    candidate, new Outcome.Rejected(new Entry.Wrong(candidate, trial.errors())));
        } else if (first) {
            outcomes.put(
                    candidate,
                    new Outcome.Proven(
                            new Contender(candidate, trial.kernels(), trial.memoryBytes()),
                            trial,
                            ImmutableLongArray.of()));
        }
    }

    private void reject(Candidate candidate, CandidateException e) {
        if (e.kind() != CandidateException.Kind.REFUSED) {
            crashes++;
        }
        String message = String.valueOf(e.getMessage());
        outcomes.put(
                candidate, new Outcome.Rejected(new Entry.Failed(candidate, e.kind(), message)));
    }

    /** Returns the operator that was found to be wrong in a candidate; empty if none was. */
    OptionalInt wrongOperator(Candidate candidate) {
        return outcomes.get(candidate) instanceof Outcome.Rejected rejected
                        && rejected.entry() instanceof Entry.Wrong wrong
                ? wrong.errors().stream()
                        .flatMap(error -> error.byOperator().stream())
                        // An infinite share concerns the whole model, or an unknown operator.
                        .filter(worst -> !worst.isRight() && Double.isFinite(worst.share()))
                        .mapToInt(OutputError.ByOperator::operator)
                        .findFirst()
                : OptionalInt.empty();
    }

    /** Returns the node times of a proven candidate; empty if it failed. */
    Optional<List<NodeTime>> profile(Contender contender) throws InterruptedException {
        budget.step();
        // A twentieth of the budget each; the median of three is sufficient.
        int runs = (int) Math.max(1, Math.min(3, budget.runs(0.05, nanosPerInference)));
        budget.ran(runs + 1);
        try {
            return Optional.of(runner.profile(contender.candidate(), runs));
        } catch (CandidateException e) {
            reject(contender.candidate(), e);
            return Optional.empty();
        }
    }

    /**
     * Runs a turn of a proven candidate.
     *
     * @param least minimum number of inferences
     * @return the duration of each in nanoseconds; empty if it failed
     */
    Optional<long[]> turn(Contender contender, int least) throws InterruptedException {
        budget.step();
        Candidate candidate = contender.candidate();
        if (!(outcomes.get(candidate) instanceof Outcome.Proven proven)) {
            return Optional.empty();
        }
        int runs = least;
        if (!proven.nanos().isEmpty()) {
            long fits = TURN_NANOS / Math.max(1, proven.nanos().get(0));
            runs = (int) Math.max(least, Math.min(MOST_PER_TURN, fits));
        }
        budget.ran(runs + 1);
        try {
            long[] nanos = runner.time(candidate, runs);
            ImmutableLongArray all =
                    ImmutableLongArray.builder().addAll(proven.nanos()).addAll(nanos).build();
            outcomes.put(candidate, new Outcome.Proven(contender, proven.trial(), all));
            return Optional.of(nanos);
        } catch (CandidateException e) {
            failedWhenTimed = true;
            reject(candidate, e);
            return Optional.empty();
        }
    }

    /**
     * Returns the nanoseconds of an inference of a proven candidate at each measured shape; empty
     * if it failed.
     */
    Optional<long[]> turnAtEachShape(Contender contender) throws InterruptedException {
        budget.step();
        try {
            long[] nanos = runner.timeEachShape(contender.candidate());
            budget.ran(nanos.length);
            return Optional.of(nanos);
        } catch (CandidateException e) {
            reject(contender.candidate(), e);
            return Optional.empty();
        }
    }

    /** Frees the resources of a candidate until it is verified again. */
    void release(Contender contender) {
        if (released.add(contender.candidate())) {
            runner.release(contender.candidate());
        }
    }

    /** Returns whether a proven candidate failed in its turn since the last call. */
    boolean failedWhenTimed() {
        boolean failed = failedWhenTimed;
        failedWhenTimed = false;
        return failed;
    }

    /** Returns whether a candidate cannot be used. */
    boolean rejected(Candidate candidate) {
        return outcomes.get(candidate) instanceof Outcome.Rejected;
    }

    /** Returns the candidates that run with accepted outputs, in the order of their trials. */
    List<Contender> proven() {
        ImmutableList.Builder<Contender> proven = ImmutableList.builder();
        for (Outcome outcome : outcomes.values()) {
            if (outcome instanceof Outcome.Proven it) {
                proven.add(it.contender());
            }
        }
        return proven.build();
    }

    /** Returns the entries of all candidates that were timed, failed or were wrong. */
    List<Entry> entries() {
        ImmutableList.Builder<Entry> entries = ImmutableList.builder();
        for (Outcome outcome : outcomes.values()) {
            if (outcome instanceof Outcome.Rejected rejected) {
                entries.add(rejected.entry());
            } else if (outcome instanceof Outcome.Proven proven) {
                measured(proven).ifPresent(entries::add);
            }
        }
        return entries.build();
    }

    /** Returns the entry of a candidate that is proven and was timed. */
    Optional<Entry.Measured> measured(Candidate candidate) {
        return outcomes.get(candidate) instanceof Outcome.Proven proven
                ? measured(proven)
                : Optional.empty();
    }

    private static Optional<Entry.Measured> measured(Outcome.Proven proven) {
        return proven.nanos().isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Entry.Measured(
                                proven.contender().candidate(),
                                proven.contender().kernels(),
                                Latency.of(proven.nanos().toArray()),
                                proven.contender().memoryBytes(),
                                proven.trial().errors()));
    }

    /** The remaining time and inferences, shown as progress. */
    static final class TimeBudget {

        private static final int PERCENT = 100;

        private final LongSupplier clock;
        private final long startNanos;
        private boolean grows;
        private long budgetNanos;
        private final Optional<Progress> progress;
        private int inferences;
        private double mostInferences = Double.POSITIVE_INFINITY;

        /**
         * @param clock nanoseconds
         * @param budget from now on; empty if it depends on the model
         * @param progress receives the spent part
         */
        TimeBudget(LongSupplier clock, Optional<Duration> budget, Optional<Progress> progress) {
            this.clock = clock;
            this.startNanos = clock.getAsLong();
            this.grows = budget.isEmpty();
            this.budgetNanos = budget.orElse(Request.BASE).toNanos();
            this.progress = progress;
        }

        void begin(String message) {
            progress.ifPresent(
                    p -> {
                        p.reset(message, PERCENT);
                        p.start(0);
                    });
        }

        void end() {
            progress.ifPresent(Progress::end);
        }

        /** Returns the nanoseconds since the beginning. */
        long elapsedNanos() {
            return clock.getAsLong() - startNanos;
        }

        /** Sets the time of an inference in the CPU kernels; preparing them took no time. */
        void inferenceTakes(double nanos) {
            if (grows) {
                budgetNanos =
                        elapsedNanos()
                                + Request.BASE.toNanos()
                                + Math.round(Request.INFERENCES * nanos);
                grows = false;
            }
        }

        /** Limits the number of inferences, including those that were already run. */
        void allow(double most) {
            mostInferences = most;
        }

        /** Adds a number of inferences. */
        void ran(int count) {
            inferences += count;
        }

        /** Returns the number of inferences so far. */
        int inferences() {
            return inferences;
        }

        /**
         * Returns the spent fraction of time or inferences, whichever is larger; more than 1 if it
         * is exceeded.
         */
        double spent() {
            return Math.max((double) elapsedNanos() / budgetNanos, inferences / mostInferences);
        }

        /** Returns how many runs of a duration fit into a fraction of the budget. */
        double runs(double part, double nanosEach) {
            return part * budgetNanos / Math.max(1, nanosEach);
        }

        /** Updates the progress, and throws if the thread is interrupted. */
        void step() throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException("profiling was cancelled");
            }
            // The last percent is reserved for the end.
            long percent = Math.min(PERCENT - 1, (long) (PERCENT * spent()));
            progress.ifPresent(p -> p.update(percent));
        }
    }
}
