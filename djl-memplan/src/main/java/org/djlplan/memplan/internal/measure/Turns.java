package org.djlplan.memplan.internal.measure;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.djlplan.memplan.spi.CandidateException;

/**
 * Turns of timing, repeated if other work disturbed them, and how many stayed disturbed. Not
 * thread-safe.
 */
final class Turns {

    /** A turn with a larger undelayed fraction counts as undisturbed. */
    private static final double UNDISTURBED = 0.95;

    private static final int TRIES = 3;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** After this many disturbed turns in a row, turns are not repeated any more. */
    private static final int HOPELESS = 5;

    private int turns;
    private int disturbed;

    /** Number of consecutive disturbed turns so far. */
    private int disturbedInARow;

    /**
     * The times of some inferences.
     *
     * @param nanos of each inference
     * @param undelayedPart the fraction of their time in which the process was not delayed by
     *     others, more than 0
     */
    record Timing(long[] nanos, double undelayedPart) {}

    /** Times some inferences. */
    @FunctionalInterface
    interface Timer {
        Timing run() throws CandidateException, InterruptedException;
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
        Timing best = new Timing(new long[0], 0);
        int tries = disturbedInARow < HOPELESS ? TRIES : 1;
        for (int i = 0; i < tries && best.undelayedPart < UNDISTURBED; i++) {
            TimeUnit.NANOSECONDS.sleep(i * PAUSE_NANOS);
            Timing timing = timer.run();
            if (timing.undelayedPart > best.undelayedPart) {
                best = timing;
            }
        }
        if (best.undelayedPart >= UNDISTURBED) {
            disturbedInARow = 0;
            return best.nanos;
        }
        disturbed++;
        disturbedInARow++;
        double part = best.undelayedPart;
        return LongStream.of(best.nanos)
                .map(time -> Math.max(1, Math.round(time * part)))
                .toArray();
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
