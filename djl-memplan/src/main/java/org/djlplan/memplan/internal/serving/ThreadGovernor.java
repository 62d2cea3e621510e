package org.djlplan.memplan.internal.serving;

import java.util.List;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Lists;

/**
 * Decides at the beginning of each prediction with which candidate of a choice it runs: the one
 * with the fewest threads, unless more threads are faster under the current load.
 *
 * <p>At first the candidate with the fewest threads serves. A candidate with more threads serves
 * after a period in which there were enough processors for every simultaneous pass of any model to
 * run with that many threads. The candidate stops serving as soon as passes overlap. It also stops
 * if predictions take longer than with the fewest threads, as they do when other programs use the
 * processors; a cumulative sum detects this (Page 1954, Continuous inspection schemes). The time
 * until it is tried again grows with each repeated failure.
 */
final class ThreadGovernor {

    /** The engine's default number of threads. */
    private static final int ENGINE_DEFAULT = 4;

    /** The number of predictions after which their usual time is known. */
    private static final int LEARNT = 3;

    /** The number of first predictions, which take longer than later ones. */
    private static final int FIRST = 8;

    private static final double STEP = 1.05;

    /**
     * Fewer threads are used only after at least this total loss of time, even if predictions are
     * short.
     */
    private static final double LEAST_LOSS_NANOS = 20e6;

    private final DelegationChoice choice;
    private final Processors processors;
    private final ImmutableList<Gear> gears;

    /** Whether passes wait for others, so that there are no more threads than processors. */
    private final boolean guarded;

    private final Processors.Patience slow;
    private int ceiling;
    private double lossNanos;
    private volatile Gear serving;

    /** A candidate with the time of its predictions. */
    static final class Gear {

        private final Candidate candidate;
        private final int index;
        private final int threads;
        private int count;
        private double usualNanos;

        private Gear(Candidate candidate, int index, int cores) {
            this.candidate = candidate;
            this.index = index;
            threads =
                    candidate.threads() == -1
                            ? Math.min(ENGINE_DEFAULT, cores)
                            : candidate.threads();
        }

        Candidate candidate() {
            return candidate;
        }

        /**
         * Learns the usual time: first the minimum of the first predictions, then a step towards
         * each later time, which estimates the median.
         */
        private void learn(long nanos) {
            if (count == 0 || (count < FIRST && nanos < usualNanos)) {
                usualNanos = nanos;
            } else if (count >= FIRST) {
                usualNanos = nanos > usualNanos ? usualNanos * STEP : usualNanos / STEP;
            }
            count = Math.min(count + 1, FIRST);
        }
    }

    ThreadGovernor(DelegationChoice choice) {
        this(choice, Processors.ofJvm());
    }

    @VisibleForTesting
    ThreadGovernor(DelegationChoice choice, Processors processors) {
        this.choice = choice;
        this.processors = processors;
        ImmutableList.Builder<Gear> all = ImmutableList.builder();
        List<Candidate> lightestFirst = Lists.reverse(choice.candidates());
        for (int i = 0; i < lightestFirst.size(); i++) {
            all.add(new Gear(lightestFirst.get(i), i, processors.cores()));
        }
        gears = all.build();
        serving = gears.get(0);
        guarded = gears.size() > 1 || (choice.candidate().delegates() && serving.threads > 1);
        slow = new Processors.Patience(processors.now());
    }

    /** Returns the candidates. */
    DelegationChoice choice() {
        return choice;
    }

    /** Returns the candidate that began last. */
    Candidate serving() {
        return serving.candidate;
    }

    /**
     * Begins a prediction, which may wait briefly for multi-threaded ones.
     *
     * @return the candidate that it runs with, for {@link #end}
     */
    Gear begin() {
        processors.lock.lock();
        try {
            long now = processors.now();
            processors.arrive(now);
            Gear gear = gears.size() == 1 ? serving : choose(now);
            if (guarded) {
                processors.enter(gear.threads);
            }
            if (serving != gear) {
                serving = gear;
            }
            return gear;
        } finally {
            processors.lock.unlock();
        }
    }

    private Gear choose(long now) {
        Gear lightest = gears.get(0);
        if (lightest.count < LEARNT) {
            return lightest;
        }
        int most = processors.threadsForEach(now);
        int highest = slow.isOver(now) ? gears.size() - 1 : ceiling;
        for (int i = highest; i > 0; i--) {
            if (gears.get(i).threads <= most) {
                return gears.get(i);
            }
        }
        return lightest;
    }

    /**
     * Ends a prediction.
     *
     * @param nanos how long the engine ran; 0 if it did not
     * @param usual whether it is comparable with others: successful, and with the shapes in the
     *     file
     */
    void end(Gear gear, long nanos, boolean usual) {
        processors.lock.lock();
        try {
            if (usual && gears.size() > 1) {
                gear.learn(nanos);
                if (gear.index > 0) {
                    count(gear, nanos);
                }
            }
            if (guarded) {
                processors.exit(gear.threads);
            }
            processors.leave();
        } finally {
            processors.lock.unlock();
        }
    }

    private void count(Gear gear, long nanos) {
        double expected = gears.get(0).usualNanos;
        if (gear.count >= LEARNT) {
            expected = Math.min(expected, 2 * gear.usualNanos);
        }
        lossNanos = Math.max(0, lossNanos + nanos - expected);
        if (lossNanos > Math.max(2 * expected, LEAST_LOSS_NANOS)) {
            lossNanos = 0;
            ceiling = gear.index - 1;
            slow.begin(processors.now());
        }
    }
}
