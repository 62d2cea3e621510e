package org.djlplan.cli.tune;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/** Times candidates in turns, all equally often. */
final class StudyTimes {

    /** Number of candidates that are prepared at once and take turns. */
    private static final int TOGETHER = 16;

    /** Minimum duration of a turn for a fast candidate. */
    private static final long TURN_NANOS = 4_000_000;

    private static final int MOST_PER_TURN = 10;

    private final CandidateRunner runner;
    private final Tolerance tolerance;
    private final int rounds;
    private final Map<Candidate, Entry> entries = new LinkedHashMap<>();
    private int inferences;

    StudyTimes(CandidateRunner runner, Tolerance tolerance, int rounds) {
        this.runner = runner;
        this.tolerance = tolerance;
        this.rounds = rounds;
    }

    /**
     * Times candidates; candidates that were timed before are timed again.
     *
     * @param more asked before each group of candidates whether there is time for it
     * @param timed called with each finished candidate
     */
    void time(Collection<Candidate> candidates, BooleanSupplier more, Runnable timed)
            throws InterruptedException {
        for (List<Candidate> together : Iterables.partition(candidates, TOGETHER)) {
            if (!more.getAsBoolean()) {
                return;
            }
            Map<Candidate, Trial> trials = new LinkedHashMap<>();
            for (Candidate candidate : together) {
                prepare(candidate, trials);
            }
            Map<Candidate, ImmutableLongArray> nanos = new LinkedHashMap<>();
            trials.keySet().forEach(candidate -> nanos.put(candidate, ImmutableLongArray.of()));
            for (int round = 0; round < rounds; round++) {
                for (Candidate candidate : List.copyOf(nanos.keySet())) {
                    turn(candidate, nanos);
                }
            }
            nanos.forEach((candidate, times) -> note(candidate, trials.get(candidate), times));
            for (Candidate candidate : together) {
                runner.release(candidate);
                timed.run();
            }
        }
    }

    private void prepare(Candidate candidate, Map<Candidate, Trial> trials)
            throws InterruptedException {
        try {
            Trial trial = runner.prepare(candidate);
            inferences += trial.inferences();
            if (trial.errors().stream().allMatch(tolerance::admits)) {
                trials.put(candidate, trial);
            } else {
                entries.put(candidate, new Entry.Wrong(candidate, trial.errors()));
            }
        } catch (CandidateException e) {
            fail(candidate, e);
        }
    }

    private void turn(Candidate candidate, Map<Candidate, ImmutableLongArray> nanos)
            throws InterruptedException {
        ImmutableLongArray before = nanos.get(candidate);
        int runs = 1;
        if (!before.isEmpty()) {
            long fits = TURN_NANOS / Math.max(1, before.get(0));
            runs = (int) Math.max(1, Math.min(MOST_PER_TURN, fits));
        }
        inferences += runs + 1;
        try {
            long[] turn = runner.time(candidate, runs);
            nanos.put(candidate, ImmutableLongArray.builder().addAll(before).addAll(turn).build());
        } catch (CandidateException e) {
            fail(candidate, e);
            nanos.remove(candidate);
        }
    }

    private void note(Candidate candidate, Trial trial, ImmutableLongArray nanos) {
        entries.put(
                candidate,
                new Entry.Measured(
                        candidate,
                        trial.kernels(),
                        Latency.of(nanos.toArray()),
                        trial.memoryBytes(),
                        trial.errors()));
    }

    private void fail(Candidate candidate, CandidateException e) {
        String message = String.valueOf(e.getMessage());
        entries.put(candidate, new Entry.Failed(candidate, e.kind(), message));
    }

    /** Returns the result of each candidate. */
    Map<Candidate, Entry> entries() {
        return entries;
    }

    int inferences() {
        return inferences;
    }
}
