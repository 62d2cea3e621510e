package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Arrays;

/**
 * The ratio of two candidates' latencies, with bounds that tell how sure it is.
 *
 * <p>Both are timed once per round, so whatever slows a whole round down cancels out in the
 * logarithm of their quotient. Over the rounds:
 *
 * <ol>
 *   <li>the centre is the median of all pairwise means (Hodges and Lehmann 1963): nearly as precise
 *       as the mean, and a few spikes do not move it;
 *   <li>the spread is the median absolute deviation from the centre, for the same reason;
 *   <li>few rounds can look calmer than they are, so their variance is averaged with that of other
 *       rounds on the same machine (the moderated t-statistic of Smyth 2004, section 4);
 *   <li>the bounds are Student's: as sure as so many standard deviations of a normal distribution.
 * </ol>
 *
 * @param ratio first to second
 * @param low the ratio is hardly smaller
 * @param high the ratio is hardly larger
 */
public record PairedRatio(double ratio, double low, double high) {

    /** The median absolute deviation of a normal distribution times this is its standard one. */
    private static final double DEVIATION = 1.4826;

    public PairedRatio {
        checkArgument(0 < low && low <= ratio && ratio <= high, "%s in %s…%s", ratio, low, high);
    }

    /**
     * The spread of the logarithms of quotients on a machine.
     *
     * @param variance of one round
     * @param freedom how many rounds it is known from, more than 0
     */
    record Noise(double variance, double freedom) {

        /** Neighbouring runs of one program differ by some percent: that much is known before. */
        static final Noise USUAL = new Noise(0.04 * 0.04, 3);

        Noise {
            checkArgument(variance >= 0, "variance: %s", variance);
            checkArgument(freedom > 0, "freedom: %s", freedom);
        }

        /** Returns what two or more rounds tell. */
        static Noise of(double[] logs) {
            int rounds = logs.length;
            double centre = centre(logs);
            double[] deviations = Arrays.stream(logs).map(x -> Math.abs(x - centre)).toArray();
            // The last factor makes up for what the median of a few deviations misses.
            double spread = DEVIATION * median(deviations) * rounds / (rounds - 0.8);
            // A median knows about half as much of the spread as all deviations would.
            return new Noise(spread * spread, (rounds - 1) / 2.0);
        }

        /** Returns what is known from both together. */
        Noise and(Noise other) {
            double sum = freedom + other.freedom;
            return new Noise((freedom * variance + other.freedom * other.variance) / sum, sum);
        }
    }

    /**
     * Compares two candidates.
     *
     * @param logs the logarithm of the quotient for each round, at least one
     * @param before what is known of the noise without these rounds
     * @param deviations how far out the bounds are, in standard deviations if rounds were plenty
     */
    static PairedRatio of(double[] logs, Noise before, double deviations) {
        checkArgument(logs.length > 0, "no rounds");
        double centre = centre(logs);
        Noise noise = logs.length > 1 ? before.and(Noise.of(logs)) : before;
        double reach = student(noise.freedom, deviations) * Math.sqrt(noise.variance / logs.length);
        return new PairedRatio(
                Math.exp(centre), Math.exp(centre - reach), Math.exp(centre + reach));
    }

    /** Returns the median of the means of all pairs, each value with itself included. */
    static double centre(double[] values) {
        double[] means = new double[values.length * (values.length + 1) / 2];
        int n = 0;
        for (int i = 0; i < values.length; i++) {
            for (int j = 0; j <= i; j++) {
                means[n++] = (values[i] + values[j]) / 2;
            }
        }
        return median(means);
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** Student's quantile for the normal one (Abramowitz and Stegun 1964, 26.7.5). */
    private static double student(double freedom, double x) {
        double x3 = x * x * x;
        double x5 = x3 * x * x;
        double x7 = x5 * x * x;
        return x
                + (x3 + x) / (4 * freedom)
                + (5 * x5 + 16 * x3 + 3 * x) / (96 * freedom * freedom)
                + (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * freedom * freedom * freedom);
    }
}
