package org.djlplan.memplan.internal.measure;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.djlplan.memplan.spi.CandidateException;

/**
 * Times inferences in turns, repeats a turn that other work disturbed, and counts the turns in
 * which every attempt was disturbed. Not thread-safe.
 */
final class UndisturbedTiming {

    /** A turn with at least this undelayed fraction counts as undisturbed. */
    private static final double UNDISTURBED = 0.95;

    private static final int TRIES = 3;

    /** The pause before the first repetition; it grows by as much with each further one. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** After this many disturbed turns in a row, turns are not repeated any more. */
    private static final int HOPELESS = 5;

    private final Sleeper sleeper;
    private int turns;
    private int disturbed;

    /** Number of consecutive disturbed turns so far. */
    private int disturbedInARow;

    /**
     * The times of some inferences.
     *
     * @param nanos the time of each inference in nanoseconds
     * @param undelayedPart the fraction of their time in which the process was not delayed by
     *     others, more than 0, at most 1
     */
    record Timing(long[] nanos, double undelayedPart) {
        Timing {
            checkArgument(
                    undelayedPart > 0 && undelayedPart <= 1, "undelayedPart: %s", undelayedPart);
        }

        private boolean isUndisturbed() {
            return undelayedPart >= UNDISTURBED;
        }

        private boolean isBetterThan(Timing other) {
            return undelayedPart > other.undelayedPart;
        }

        /** Returns the times without the waiting time. */
        private long[] undelayedNanos() {
            return LongStream.of(nanos)
                    .map(time -> Math.max(1, Math.round(time * undelayedPart)))
                    .toArray();
        }
    }

    /** Times some inferences. */
    @FunctionalInterface
    interface Timer {
        Timing run() throws CandidateException, InterruptedException;
    }

    /** Lets the thread sleep. */
    @FunctionalInterface
    interface Sleeper {
        void sleep(long nanos) throws InterruptedException;
    }

    UndisturbedTiming() {
        this(TimeUnit.NANOSECONDS::sleep);
    }

    /**
     * @param sleeper for the pauses between repetitions
     */
    UndisturbedTiming(Sleeper sleeper) {
        this.sleeper = sleeper;
    }

    /**
     * Repeats a disturbed timing, a few times at most. If all timings are disturbed, the waiting
     * time of the process is subtracted evenly from the least disturbed one, because it is unknown
     * which inference was delayed.
     *
     * @return nanoseconds of each inference
     */
    long[] time(Timer timer) throws CandidateException, InterruptedException {
        turns++;
        int tries = disturbedInARow < HOPELESS ? TRIES : 1;
        Timing best = timer.run();
        for (int i = 1; i < tries && !best.isUndisturbed(); i++) {
            sleeper.sleep(i * PAUSE_NANOS);
            Timing timing = timer.run();
            best = timing.isBetterThan(best) ? timing : best;
        }
        if (best.isUndisturbed()) {
            disturbedInARow = 0;
            return best.nanos;
        }
        disturbed++;
        disturbedInARow++;
        return best.undelayedNanos();
    }

    /** Returns a remark if so many turns stayed disturbed that the times are doubtful. */
    Optional<String> caveat() {
        return disturbed * 4 > turns
                ? Optional.of(
                        "measured beside other work, which disturbed %d of %d turns"
                                .formatted(disturbed, turns))
                : Optional.empty();
    }
}
